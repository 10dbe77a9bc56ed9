/*
 * The connections of a thread by node. In a cluster each client has one to each
 * node, as cluster clients have: it draws a node by its part of the keys, sends
 * its batch there, and draws again when all is answered. In open loop each due
 * request is drawn in the same way and waits for a connection to its node,
 * whatever other nodes do. A run without a cluster, or on one node, has one
 * pool.
 */
#ifndef POOLS_H
#define POOLS_H

#include <stdint.h>

struct conn;
struct pool;
struct slotmap;
struct worker;

/*
 * Makes the worker use that map of the cluster. Connections keep their node if
 * it is still there; others are opened. Requests that waited are drawn again.
 */
void pools_remap(struct worker *, struct slotmap *);
void pools_free(struct worker *);

/*
 * Closed loop: all clients may send when a run or slice begins; a connection is
 * ready, its batch (if any) was answered. One that got a batch in the meantime
 * is left alone. pools_serve sends the next batches of all clients that have
 * none, those to one node after each other: the first wakes it up.
 */
void pools_begin(struct worker *);
void pools_release(struct worker *, struct conn *);
void pools_serve(struct worker *, int64_t now);

/*
 * Open loop: the pool of the nth request of the worker; its due times, oldest
 * first; and the numbers of the next n requests of a connection. pools_add_idle
 * takes a connection without unanswered requests; pools_take_idle returns NULL
 * if none is ready.
 */
struct pool *pools_choose(struct worker *, uint64_t nth);
void pools_add_due(struct pool *, int64_t due);
int64_t pools_take_due(struct pool *);
void pools_advance(struct worker *, struct conn *, uint32_t n);
void pools_add_idle(struct worker *, struct conn *);
struct conn *pools_take_idle(struct pool *);

/* Returns a random pool, in proportion to its node's part of the keys. */
struct pool *pools_draw(struct worker *);

#endif
