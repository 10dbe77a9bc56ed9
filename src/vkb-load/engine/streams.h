/*
 * Runs streams side by side: all connect, start together, and end on their own.
 * Private to the engine.
 */
#ifndef STREAMS_H
#define STREAMS_H

#include "engine.h"
#include "run.h"

#include <stdbool.h>
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
 * engine_run. 'results' of a load may be NULL. 'turns' is called when all are
 * connected, and makes their slices; NULL: one server, all of whose streams run
 * once. The first that fails ends the others.
 */
typedef void streams_turns_fn(struct streams *, void *arg);
int streams_run(const struct engine_load *, size_t n,
    const struct run_options *, streams_turns_fn *turns, void *turns_arg,
    const volatile int *stop, engine_progress_fn *, void *arg);

/* For 'turns'. */

/* Ends all streams early if asked to stop or if one failed; true then. */
bool streams_halt(struct streams *);

/* Lets the threads of a server begin their next slice, but for idle streams. */
void streams_begin_slice(struct streams *, struct side *);

/*
 * Waits for the end of a slice, until 'next' at most, and looks after all
 * streams. Returns true if the slice has ended.
 */
bool streams_supervise(struct streams *, const struct side *, int64_t next);

/* Call the meter of a server. */
void streams_report_begin(const struct side *);
void streams_report_end(const struct side *);

#endif
