/*
 * Requests that a cluster redirected (MOVED, ASK), and those that a server
 * cannot answer for the moment (CLUSTERDOWN, TRYAGAIN, LOADING), which are sent
 * again every 50 to 100 ms until half of the timeout is over. Each thread has a
 * further connection to each such node. Private to the engine, like run.h.
 */
#ifndef REDIRECT_H
#define REDIRECT_H

#include <stdbool.h>
#include <stdint.h>

struct conn;
struct worker;

/*
 * Takes over the request answered by 'line', the nth that the connection of a
 * client awaits, if the line redirects it. Returns false if the line is the
 * answer.
 */
bool redirect_take(
    struct worker *, struct conn *, const char *line, uint32_t nth);
void redirect_check(struct worker *, int64_t now); /* at each tick */
/* Gives up all requests when a thread ends its part of the run. */
void redirect_end(struct worker *, int64_t now);
void redirect_free(struct worker *);

#endif
