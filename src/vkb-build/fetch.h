/* Fetching that can be stopped, whatever the other side does or does not. */
#ifndef FETCH_H
#define FETCH_H

#include <stdbool.h>

struct gitrepo;

/*
 * gitrepo_fetch() in a process of its own, which is killed when stop() says
 * so; what that leaves in the repository, store_open removes. 0, or -1 and
 * said.
 */
int fetch_apart(struct gitrepo *, const char *url, const char *const *specs,
    bool all, bool (*stop)(void *), void *arg);

#endif
