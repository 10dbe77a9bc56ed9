/* A git fetch that can be stopped at any time. */
#ifndef FETCH_H
#define FETCH_H

#include <stdbool.h>

struct gitrepo;

/*
 * Runs gitrepo_fetch() in a child process that is killed when stop() returns
 * true; store_open removes its leftovers. Returns 0, or -1 after reporting the
 * error.
 */
int fetch_in_child(struct gitrepo *, const char *url, const char *const *specs,
    bool all, bool (*stop)(void *), void *arg);

#endif
