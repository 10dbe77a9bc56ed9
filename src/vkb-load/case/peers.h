/*
 * The parts of a load that several vkb-load make together, on one server that
 * is running. They keep in step through that server, without touching its data:
 * each part subscribes to a channel whose name says what it does, which the
 * others list. A part that ends, in whatever way, is gone from the list.
 *
 * Each run has steps, see enum peers_step, at which every part waits for all
 * others. Part 1 prepares and fills the server, and cleans it up.
 */
#ifndef PEERS_H
#define PEERS_H

#include <stdbool.h>
#include <stdint.h>

struct engine_result;
struct json;
struct peers;
struct target;

struct peers_opts {
	unsigned part, parts;    /* from 1 */
	unsigned long long plan; /* equal in all parts: what will be run */
	const char *session;     /* proposals: those of part 1 are taken */
	uint64_t seed;
	const char *prefix; /* or NULL */
	double timeout_s;   /* without a change of the state of a part; 0: 60 */
	bool quiet;
	const volatile int *stop;
};

enum peers_step { PEERS_BEGUN = 1, PEERS_FILLED, PEERS_READY, PEERS_DONE };

/*
 * Connects to the server and waits for all others. Returns NULL after reporting
 * who is missing, or what does not fit together. The target is borrowed.
 */
struct peers *peers_meet(const struct target *, const struct peers_opts *);
/* Waits until all others have seen the last step. NULL does nothing. */
void peers_part(struct peers *);

/* What all parts share; borrowed. */
const char *peers_session(const struct peers *);
const char *peers_prefix(const struct peers *);
uint64_t peers_seed(const struct peers *);

/* For these NULL is a load of one part. */
unsigned peers_number(const struct peers *); /* of this part, or 0 */
unsigned peers_count(const struct peers *);  /* of all parts, or 0 */
bool peers_leads(const struct peers *);      /* Is it part 1, or alone? */
/* Is it the part with the smallest number on its host? */
bool peers_is_first_here(const struct peers *);
/* Has a part ended, so that no further run can be made? */
bool peers_is_broken(const struct peers *);
/* Was it part 1, so that the server is not cleaned up? */
bool peers_is_leaderless(const struct peers *);

/* Begins a run, whose name must be the same in all parts. */
void peers_begin(struct peers *, const char *name);

/*
 * Waits until all parts have come to a step of the run. Returns 0, or -1 after
 * reporting which part failed, is missing, or makes another run; or silently
 * when *stop is set.
 */
int peers_wait(struct peers *, enum peers_step);

/* Publishes from time to time that this part still runs. */
void peers_beat(struct peers *);

/*
 * Ends the run, whatever step it came to: tells the others why it failed, or
 * NULL, and waits for them. Returns 0, or -1 after reporting that another part
 * failed.
 */
int peers_done(struct peers *, const char *failure);

/*
 * When the load of a run begins: at a time by the clock of the server, for
 * which vkb-load was asked or on which the parts of a load agree. Hosts whose
 * clocks differ agree by that of a server which they all reach.
 */

/* The clock of the server. */
struct peers_clock {
	int64_t offset_us; /* its time since 1970 less CLOCK_MONOTONIC; 0: not
			    * read */
	double ahead_ms;   /* its time less that of this host */
	double error_ms;   /* both are exact within this: half a round trip */
};

struct starting {
	struct peers *peers; /* NULL: one part */
	const struct target *target;
	double at_s; /* since 1970; 0: as soon as all are ready */
	struct peers_clock clock;
};

/* The engine_meter.when of a run; 'arg' is a struct starting. */
int64_t peers_when(void *arg, double warmup_s);

/*
 * Makes a run record that of a part: sets its type, and in run.part which it
 * is, the clock of its host, and when it measured by that of the server.
 * Does nothing with the record of a load of one part.
 */
void peers_set_part(
    const struct starting *, struct json *run, const struct engine_result *);

#endif
