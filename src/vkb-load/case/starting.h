/*
 * When the load of a run begins: at a time by the clock of the server, for
 * which vkb-load was asked or on which the parts of a load agree. Hosts whose
 * clocks differ agree by that of a server which they all reach.
 */
#ifndef STARTING_H
#define STARTING_H

#include <stdint.h>

struct engine_result;
struct json;
struct peers;
struct target;

/* The clock of the server. */
struct starting_clock {
	int64_t offset_us; /* its time since 1970 less CLOCK_MONOTONIC; 0: not
			    * read */
	double ahead_ms;   /* its time less that of this host */
	double error_ms;   /* both are exact within this: half a round trip */
};

struct starting {
	struct peers *peers; /* NULL: one part */
	const struct target *target;
	double at_s; /* since 1970; 0: as soon as all are ready */
	struct starting_clock clock;
};

/* The engine_meter.when of a run; 'arg' is a struct starting. */
int64_t starting_when(void *arg, double warmup_s);

/*
 * Makes a run record that of a part: sets its type, and in run.part which it
 * is, the clock of its host, and when it measured by that of the server.
 * Does nothing with the record of a load of one part.
 */
void starting_set_part(
    const struct starting *, struct json *run, const struct engine_result *);

#endif
