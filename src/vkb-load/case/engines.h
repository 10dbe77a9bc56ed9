/*
 * The interface of a load generator: this program or valkey-benchmark. Servers,
 * order, resuming and records are the same for all.
 */
#ifndef ENGINES_H
#define ENGINES_H

#include "capacity.h"

#include <stdbool.h>
#include <stdint.h>

#include "vkb-load/engine/engine.h"

struct bench_case;
struct datasets;
struct json;
struct roles;
struct slospec;
struct target;
struct watch_cost;

struct engine_job {
	const struct json *cas;
	const struct target *target;
	const struct engine_work *work; /* the streams of the case */
	size_t nwork;
	const struct engine_work *warmup; /* runs first, not counted */
	size_t nwarmup;                   /* may be 0 */
	const volatile int *stop; /* polled; ends the job with -1, no message */
	engine_progress_fn *progress;
	engine_ended_fn *ended;     /* NULL: intervals are not told */
	void *arg;                  /* of both */
	const struct json *counted; /* the record of the server whose
				     * instructions are counted; NULL: none */
	struct watch_cost *cost;    /* set to the cost of all streams */
	struct json *rec;           /* the run: an engine adds to run and env */
	struct json **raw; /* set if there is verbatim output; caller frees */
	struct starting *starting; /* when the load begins; its parts */
	const struct slospec *slo; /* search the capacity; NULL: do not */
	char **too_large; /* in slices: set to why the servers do not fit into
			   * memory together; caller frees */
};

/* A run that an earlier session finished. */
struct engine_past {
	const char *tool; /* benchmark_tool_sha256; NULL: not known */
	double rps, requests;
};

struct engine {
	const char *name; /* config.engine; NULL ends a list */
	void *self;

	/* Returns why it cannot run a case, or NULL. Caller frees. */
	char *(*cannot)(
	    const void *self, const struct bench_case *, const struct roles *);

	/*
	 * Returns true if the case needs a trial, on a server of its own,
	 * before its first run; attempt makes the trial and returns 0 or -1.
	 * NULL: no case does.
	 */
	bool (*untried)(const void *self, const struct json *cas);
	int (*attempt)(void *self, const struct engine_job *);

	/*
	 * Takes over a run of an earlier session. Returns -1 after reporting an
	 * error if no run can be added to it. NULL: nothing is taken over.
	 */
	int (*recall)(
	    void *self, const struct json *cas, const struct engine_past *);

	/*
	 * Fills the servers of n jobs, each with its own, and measures; several
	 * interleaved, see engine_run_slices. results[i] has one for each
	 * stream of job i. Sets rcs[i] to 0; 1 after reporting that its results
	 * are not valid; -1 after reporting an error: there is no result, or
	 * where requests were answered, a partial one. The caller frees each
	 * with engine_result_free in any case.
	 */
	void (*run)(void *self, const struct engine_job *, size_t n,
	    uint64_t seed, struct engine_result *const *results, int *rcs);
	bool slices; /* it can run several */
};

/*
 * Most trials of a search for the capacity of a server, of which the first is a
 * closed loop and the last is at the rate that was found.
 */
enum { ENGINES_TRIALS = CAPACITY_TRIALS + 2 };

/* Returns the engine of the case, or NULL if the list has none of that name. */
const struct engine *engines_find(
    const struct engine *list, const struct json *cas);

/* The engine of this program; see native.c. Borrows the datasets. */
struct engine native_engine(struct datasets *);

#endif
