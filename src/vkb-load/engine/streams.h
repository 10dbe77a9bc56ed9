/*
 * Runs streams side by side: all connect, start together, and end on their own.
 * Private to the engine.
 */
#ifndef STREAMS_H
#define STREAMS_H

#include "engine.h"
#include "run.h"

#include <stdint.h>

/* The streams of one server, which run at the same time. */
struct side {
	const struct engine_load *load;
	struct run *runs;
	size_t n;
};

/* All streams of one run, for the calling thread. */
struct streams {
	struct gate gate;
	struct run *runs;
	size_t n;
	struct side *sides;
	size_t nsides;
	const volatile int *stop;
	engine_progress_fn *progress;
	void *arg;
	const struct side *now; /* in slices: the one that is loaded */
	double done; /* share of the turns; NAN: there are none, or not yet */
	int64_t t0, t1; /* from the first that measures to the last that ends */
	int64_t look;   /* time of the next report */
};

/*
 * Runs the streams of n servers, whose options come load by load, as
 * engine_run. 'results' of a load may be NULL. 'rng' chooses the order of the
 * servers in slices, as engine_run_slices says; NULL: one server, all of whose
 * streams run once. The first that fails ends the others.
 */
int streams_run(const struct engine_load *, size_t n,
    const struct run_options *, struct rng *, const volatile int *stop,
    engine_progress_fn *, void *arg);

#endif
