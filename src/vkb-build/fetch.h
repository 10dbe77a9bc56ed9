/* Fetching that can be stopped, whatever the other side does or does not. */
#ifndef FETCH_H
#define FETCH_H

#include <stdbool.h>

struct gitrepo;

/*
 * gitrepo_fetch() in a process of its own, which is killed when stop() says
 * so; what an earlier one that was killed left in 'path', the repository, is
 * removed. 0, or -1 and said.
 */
int fetch_apart(struct gitrepo *, const char *path, const char *url,
    const char *const *specs, bool all, bool (*stop)(void *), void *arg);

#endif
