/*
 * Reads the servers' own counters, to check a load that another program makes.
 */
#ifndef SERVED_H
#define SERVED_H

#include "vkb-load/engine/engine.h"

#include <stddef.h>

struct json;
struct served;
struct target;

/* Totals since the start of the servers; NAN: unknown. */
struct served_counts {
	double calls; /* of commands that are load, not control */
	double errors, hits, misses;
	struct engine_error kinds[ENGINE_ERRORS]; /* none before 6.2 */
	size_t nkinds;
};

/*
 * Connects to all primaries. The connections last, so that the counters can be
 * read when the load has taken all that the servers allow. Returns NULL after
 * reporting an error.
 */
struct served *served_open(const struct target *);
void served_close(struct served *);

/*
 * Reads the sums over all primaries. Returns 0, or -1 after reporting an error.
 */
int served_read(const struct served *, struct served_counts *);

/*
 * Puts errors and hit rate between two readings into the result of a case, and
 * checks that the servers served at least 'least' of 'requests' and that there
 * are not too many errors, see errorcheck.h.
 * Returns 0, or 1 after reporting that the result is not valid.
 */
int served_check(const struct served_counts *before,
    const struct served_counts *after, double requests, double least,
    const struct json *cas, struct engine_result *);

#endif
