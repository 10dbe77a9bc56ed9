/*
 * Requests that a cluster sent elsewhere (MOVED, ASK), and those that a server
 * cannot answer for the moment (CLUSTERDOWN, TRYAGAIN, LOADING), which go to it
 * again every 50 to 100 ms until half of the timeout is over. Each thread has a
 * connection of its own for them to each such node, made when needed. Private
 * to the engine, like run.h.
 */
#ifndef REDIRECT_H
#define REDIRECT_H

#include <stdbool.h>
#include <stdint.h>

struct conn;
struct worker;

/*
 * Takes the request answered by 'line' along, where that says so: the nth of
 * those that the connection of a client awaits. False: the reply is the last
 * word.
 */
bool redirect_take(
    struct worker *, struct conn *, const char *line, uint32_t nth);
void redirect_check(struct worker *, int64_t now); /* at each tick */
/* Gives up all when a thread ends its part of the run. */
void redirect_end(struct worker *, int64_t now);
void redirect_free(struct worker *);

#endif
