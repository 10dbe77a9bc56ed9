/* The git repositories in the cache: mirrors, work trees, archives. */
#ifndef STORE_H
#define STORE_H

#include <stdbool.h>

struct cache;
struct gitrepo;

/*
 * Opens or creates the repository of that name, and removes unfinished packs
 * and stale locks. Returns NULL after reporting an error. Hold the cache's lock
 * of the same name to write refs or packs.
 */
struct gitrepo *store_open(const struct cache *, const char *name);

/* Fetches as gitrepo_fetch into the repository of that name, under its lock,
 * until the program should stop. Returns 0, or -1 after reporting the error. */
int store_fetch(const struct cache *, const char *name, struct gitrepo *,
    const char *url, const char *const *specs, bool all);

#endif
