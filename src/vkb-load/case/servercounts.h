/*
 * What the servers count themselves, by INFO: calls and time of each command,
 * hits and misses, keys that expired or were evicted. What a load did is the
 * difference of two readings; no counter of a server is reset.
 */
#ifndef SERVERCOUNTS_H
#define SERVERCOUNTS_H

#include <stdbool.h>
#include <stddef.h>

struct servercounts;
struct target;
struct watch_cost;

/*
 * Connects to all primaries. The connections last, so that the counters can be
 * read when the load has taken all that the servers allow. Returns NULL if one
 * cannot be reached; nothing is reported.
 */
struct servercounts *servercounts_open(const struct target *);
void servercounts_close(struct servercounts *); /* NULL does nothing */

/*
 * Reads the counters before and after the load. If a server does not answer,
 * nothing is known. NULL does nothing.
 */
void servercounts_begin(struct servercounts *);
void servercounts_end(struct servercounts *);

/*
 * Adds the differences, summed over all primaries, to a cost: cmd_NAME_calls,
 * cmd_NAME_us_per_call and so on of each command of the load, keyspace_hits,
 * evicted_keys and so on. Percentiles of a command, of which the highest of all
 * primaries counts, cannot be subtracted: they are there if it was never called
 * before.
 */
void servercounts_report(const struct servercounts *, struct watch_cost *);

/*
 * Returns false for commands of control connections, replicas and connecting
 * clients, such as INFO.
 */
bool servercounts_is_load(const char *command, size_t n);

#endif
