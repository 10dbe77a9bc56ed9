/*
 * Who makes the load of a case: this program, or valkey-benchmark. The runner
 * knows no more of an engine than this; servers, order, resuming and records
 * are the same for all.
 */
#ifndef ENGINES_H
#define ENGINES_H

#include <stdbool.h>

#include "vkb-load/engine/engine.h"

struct datasets;
struct json;
struct target;
struct watch_cost;

struct engine_job {
	const struct json *cas;
	const struct target *target;
	const struct engine_work *work; /* the streams of the case */
	size_t nwork;
	const struct engine_work *warmup; /* a run before, not counted */
	size_t nwarmup;                   /* 0: none */
	const volatile int *stop; /* polled; ends the job with -1, unsaid */
	engine_progress_fn *progress;
	void *arg;
	struct watch_cost *cost; /* set to that of all streams together */
	struct json *rec;        /* the run: an engine adds to run and env */
	struct json *
	    *raw; /* set where there is verbatim output; caller frees */
};

/* What is known of a run that an earlier session finished. */
struct engine_past {
	const char *tool; /* benchmark_tool_sha256; NULL: not known */
	double rps, requests;
};

struct engine {
	const char *name; /* config.engine; NULL ends a list */
	void *self;

	/* Why it cannot make the load of a case, or NULL. Caller frees. */
	char *(*cannot)(const void *self, const struct json *cas);

	/* Must it try a case, on a server for that alone, before it is run? */
	bool (*untried)(const void *self, const struct json *cas);
	int (*attempt)(void *self, const struct engine_job *);

	/* Such a run is not made again; -1, and said: none can be added. */
	int (*recall)(
	    void *self, const struct json *cas, const struct engine_past *);

	/*
	 * Fills the servers and measures. 0; 1, and said: there is a result,
	 * but it is no good; -1, and said: there is none, or where requests
	 * were answered, only a part. One for each stream; free each with
	 * engine_result_free in any case.
	 */
	int (*run)(void *self, const struct engine_job *,
	    struct engine_result *results);
};

/* That of the case; NULL: there is none of that name. */
const struct engine *engines_find(
    const struct engine *list, const struct json *cas);

/* native.c: the load comes from this program. */
struct engine native_engine(struct datasets *); /* borrowed */

#endif
