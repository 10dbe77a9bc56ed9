/*
 * Arrivals: when the requests of a stream are sent, and which latency is
 * recorded for them. Private to the engine, like run.h.
 */
#ifndef ARRIVALS_H
#define ARRIVALS_H

#include "ratespec.h"
#include "rng.h"

#include <stdbool.h>
#include <stdint.h>

struct arrivals;
struct redirected;
struct conn;
struct engine_work;
struct worker;

/* The schedule of a thread in open loop, in ns since its base. */
struct schedule {
	const struct arrivals *kind;
	double gap_ns, next_ns, first_ns; /* gap_ns: on average */
	uint64_t n;
	struct rng rng;
	/* Of a rate that changes: the arrivals of all threads until next_ns,
	 * those between two of this thread, and when they are due. */
	double due, threads;
	struct ratespec_timing timing;
};

/* What a thread does with its connections; the closed or the open loop. */
struct pacing {
	/* Sends on a connection that awaits no reply, or keeps it for later. */
	void (*idle)(struct worker *, struct conn *, int64_t now);
	/* Sends what is due, and on connections that were kept; or NULL. */
	void (*dispatch)(struct worker *, int64_t now);
	/*
	 * Open loop only, else NULL: begins the schedule, or continues it
	 * in a further slice; returns when the next request is due;
	 * ends a slice, and with the last one records the age of
	 * requests that were due but never sent; whether all of a number of
	 * requests were sent; takes the times of the nth awaited request, whose
	 * latency 'answered' does not count then.
	 */
	void (*start)(struct worker *);
	int64_t (*next)(const struct worker *);
	void (*stop)(struct worker *, int64_t now);
	bool (*sent)(const struct worker *);
	void (*take_times)(
	    struct worker *, struct conn *, uint32_t nth, struct redirected *);
	/*
	 * Record the latency of n answered requests, or of one that was
	 * redirected. Return true if they count as measured.
	 */
	bool (*answered)(
	    struct worker *, struct conn *, int64_t now, uint32_t n);
	bool (*redirected)(
	    struct worker *, const struct redirected *, int64_t now);
	bool (*done)(struct worker *); /* nothing is left to send or receive */
};

struct arrivals {
	const struct pacing *pacing;
	/* Open loop only: set next_ns to the first, to the next arrival. */
	void (*begin)(struct schedule *);
	void (*advance)(struct schedule *); /* also counts n up */
};

/* Returns the arrivals that the work asks for. */
const struct arrivals *arrivals_find(const struct engine_work *);

#endif
