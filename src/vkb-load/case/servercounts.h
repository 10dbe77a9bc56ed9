/*
 * What the servers count themselves, by INFO: calls and time of each command,
 * hits and misses, keys that expired or were evicted. What a load did is the
 * difference of two readings; no counter of a server is reset.
 */
#ifndef SERVERCOUNTS_H
#define SERVERCOUNTS_H

#include <stdbool.h>
#include <stddef.h>

#include "vkb-load/engine/engine.h"

#define SERVERCOUNTS_MS 10000 /* for an answer beside a load of our own */

struct json;
struct servercounts;
struct target;
struct watch_cost;

/*
 * Connects to all primaries, and the replicas that are read. The connections
 * last, so that the counters can be read when the load has taken all that the
 * servers allow. Nothing is reported if one cannot be reached, see
 * servercounts_require. A server may take 'most_ms' for an answer, 0: as long
 * as the timeout of the target.
 */
struct servercounts *servercounts_open(const struct target *, int most_ms);
void servercounts_close(struct servercounts *); /* NULL does nothing */

/*
 * Reads the counters before and after the load. If a server does not answer,
 * nothing is known.
 */
void servercounts_begin(struct servercounts *);
void servercounts_end(struct servercounts *); /* NULL does nothing */

/* Returns 0, or -1 after reporting why nothing is known. */
int servercounts_require(const struct servercounts *);

/* Returns how much of a load the primaries have served since
 * servercounts_begin. Reads the counters, see servercounts_require. */
double servercounts_calls(struct servercounts *);

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

/* --- of a load that another program makes */

enum {
	SERVERCOUNTS_HITS,
	SERVERCOUNTS_MISSES,
	SERVERCOUNTS_EVICTED,
	SERVERCOUNTS_EXPIRED,
	SERVERCOUNTS_ERRORS,
	SERVERCOUNTS_TOTALS
};

/* Sums of the primaries since their start; NAN: unknown. */
struct servercounts_sums {
	double calls; /* of commands that are load, not control */
	double totals[SERVERCOUNTS_TOTALS];
	struct engine_error kinds[ENGINE_ERRORS]; /* none before 6.2 */
	size_t nkinds;
};

/* The last reading before or after the load; borrowed. */
const struct servercounts_sums *servercounts_sums(
    const struct servercounts *, bool after);

/*
 * Puts errors and hit rate between two readings into the result of a case, and
 * checks that the servers served at least 'least' of 'requests' and that there
 * are not too many errors, see errorcheck.h. Returns 0, or 1 after reporting
 * that the result is not valid.
 */
int servercounts_check(const struct servercounts_sums *before,
    const struct servercounts_sums *after, double requests, double least,
    const struct json *cas, struct engine_result *);

#endif
