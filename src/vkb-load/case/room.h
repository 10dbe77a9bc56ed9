/*
 * The memory that is left on running servers which hold data of others, so that
 * a load neither makes them evict keys nor refuse the writes of others.
 */
#ifndef ROOM_H
#define ROOM_H

#include <stdbool.h>
#include <stddef.h>

struct bench_case;
struct engine_job;
struct engine_work;
struct room;
struct target;

/*
 * Whether the servers of several builds fit into memory at the same time, and
 * the requests of a load; what a load needs on a server.
 */

/*
 * Returns why the largest values of a work, one for each connection and thread,
 * do not fit, or NULL; only for those with 'values'. Caller frees.
 */
char *room_explain_requests(const struct engine_work *, size_t nodes);

/*
 * Return why n servers with the same data do not fit, with figures, or NULL if
 * they do, or if that is not known. Caller frees.
 */

/*
 * Before the servers start: compares the values of all keys, which are size of
 * a value * keys * n, with the memory that is available.
 */
char *room_explain_case(const struct bench_case *, size_t n);

/*
 * When the first is filled: compares what the others still need to become like
 * it with the memory that is available.
 */
char *room_explain_servers(const struct engine_job *, size_t n);

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
