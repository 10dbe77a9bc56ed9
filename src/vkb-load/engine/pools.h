/*
 * The connections of a thread by node. In a cluster each client has one to each
 * node, as cluster clients have: it draws a node by the keys that lie there,
 * sends its batch over a connection to that node, and draws again when all is
 * answered. In open loop what is due is drawn in the same way and waits for a
 * connection to its node, whatever other nodes do. A run without a cluster, or
 * on one node of it, has one pool of all its connections.
 */
#ifndef POOLS_H
#define POOLS_H

#include <stdint.h>

struct conn;
struct pool;
struct worker;

/*
 * Makes the pools for the map of the worker, whose connections know their
 * nodes. What waited in pools made before is drawn anew.
 */
void pools_set(struct worker *);
void pools_free(struct worker *);

/* Closed loop: a connection is ready, its batch (if any) was answered. */
void pools_next(struct worker *, struct conn *, int64_t now);
/* Clients that are free, after a change of the map, go on. */
void pools_serve(struct worker *, int64_t now);

/*
 * Open loop: the pool of the nth request of the worker; its times, oldest
 * first; and where the numbers of the next n requests of a connection come
 * from. pools_add_idle takes a connection of which all was answered, once;
 * pools_take_idle returns NULL if none is ready.
 */
struct pool *pools_due(struct worker *, uint64_t nth);
void pools_add_due(struct pool *, int64_t due);
int64_t pools_next_due(const struct pool *);
void pools_drop_due(struct pool *);
void pools_advance(struct worker *, struct conn *, uint32_t n);
void pools_add_idle(struct worker *, struct conn *);
struct conn *pools_take_idle(struct pool *);

/* A pool at random, by the part of the keys that lies on its node. */
struct pool *pools_draw(struct worker *);

#endif
