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
 * Opens the nodes of a server, replicas that can be reached included. Of a
 * server that holds data of others ('beside') the limits are maxmemory and the
 * memory of its host; of one that is emptied, only the latter; as far as they
 * are known. 'local': the host is this machine. The target is borrowed. Returns
 * NULL after reporting that a primary did not answer.
 */
struct room *room_open(const struct target *, bool local, bool beside);
void room_close(struct room *); /* NULL does nothing */

/*
 * Compares what a case needs with what is left on each node. Sets *bytes and
 * *elements to what it needs. Returns 0, or -1 after reporting that it does not
 * fit, or that a node did not answer.
 */
int room_check(
    struct room *, const struct bench_case *, double *bytes, double *elements);

/* Begins to watch a load that needs so many bytes. Returns as room_check. */
int room_begin(struct room *, double bytes);

/*
 * Looks at each node. Returns why the load has to stop, or NULL: a node has
 * evicted keys or refused writes since room_begin, or will soon have no memory
 * left, because the load needs more than was estimated. Borrowed; from then on
 * it stays.
 */
const char *room_look(struct room *);

#endif
