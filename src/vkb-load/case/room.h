/*
 * The memory that is left on running servers which hold data of others, so that
 * a load neither makes them evict keys nor refuse the writes of others.
 */
#ifndef ROOM_H
#define ROOM_H

#include <stdbool.h>

struct bench_case;
struct room;
struct target;

/*
 * Compares what a case needs with what is left on each node, replicas included:
 * of its maxmemory if it holds data of others ('beside'), and of the memory of
 * its host, as far as these are known; 'local': that is this machine. Sets
 * *bytes and *elements to what it needs. Returns 0, or -1 after reporting that
 * it does not fit, or that a node did not answer.
 */
int room_check(const struct target *, const struct bench_case *, bool local,
    bool beside, double *bytes, double *elements);

/*
 * Watches nodes while a load that needs so many bytes runs. Returns NULL after
 * reporting that a primary did not answer.
 */
struct room *room_open(const struct target *, bool local, double bytes);
void room_close(struct room *); /* NULL does nothing */

/*
 * Looks at each node. Returns why the load has to stop, or NULL: a node has
 * evicted keys or refused writes since room_open, or will soon have no memory
 * left, because the load needs more than was estimated. Borrowed; from then on
 * it stays.
 */
const char *room_look(struct room *);

#endif
