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
 * The step PEERS_READY: agrees on the time, by the clock of the server, at
 * which the load begins; sets *us, which is now, to it. Returns as peers_wait.
 */
int peers_agree(struct peers *, int64_t *us);

/*
 * Ends the run, whatever step it came to: tells the others why it failed, or
 * NULL, and waits for them. Returns 0, or -1 after reporting that another part
 * failed.
 */
int peers_done(struct peers *, const char *failure);

#endif
