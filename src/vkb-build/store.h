/* The git repositories in the cache: mirrors, work trees, archives. */
#ifndef STORE_H
#define STORE_H

struct cache;
struct gitrepo;

/*
 * Opens or creates the repository of that name, and removes unfinished packs
 * and stale locks. Returns NULL after reporting an error. Hold the cache's lock
 * of the same name to write refs or packs.
 */
struct gitrepo *store_open(const struct cache *, const char *name);

#endif
