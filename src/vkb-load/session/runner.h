/* One visit: the cases of a scene on a server, in order, and their records. */
#ifndef RUNNER_H
#define RUNNER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "order.h"
#include "vkb-load/engine/engine.h"
#include "vkb-load/plan/scene.h"

struct coproc;
struct engine;
struct json;
struct logs;
struct looks;
struct precise;
struct profiles_opts;
struct progress;
struct results;
struct running;

struct runner {
	struct json *const *cases;
	const struct scene *scenes;
	struct json *const *builds; /* records with subject and server */
	const struct engine *engines;
	const struct looks *looks;
	struct precise *precise; /* is told of each run that went well */
	struct results *results;
	const struct profiles_opts *profiles;
	struct progress *progress;
	engine_progress_fn *show; /* what a run does, with that */
	struct logs *logs;
	char run_name[32];       /* of the visit at work, for the logs */
	struct running *running; /* NULL: servers of our own, by vkb-serve */
	struct coproc *coproc;   /* NULL: is started; owned by the caller */
	struct json *machine;    /* env record, before the first run; NULL */
	const struct json *env;  /* what each run repeats of it */
	char session[16];
	uint64_t seed;
	double timeout_s;
	size_t order;   /* runs begun */
	size_t servers; /* started */
	const volatile int *stop;
	volatile int halt; /* ends the run: *stop, or the server ended */

	/* Called before each run: the name for the progress. */
	void (*announce)(void *arg, const struct slot *, size_t cas);
	void *arg;
};

/* What is to be measured in a visit, by the places in the scene. */
struct visit {
	const struct slot *slot;
	bool *wanted; /* becomes false where the run went well */
	size_t failed;
	bool profile; /* this instead: nothing is measured */
};

/*
 * Cases that are not wanted are gone through where a later one needs what they
 * leave behind. 0: what was wanted was measured, or failed, and was written.
 * -1: it could not be written, or *stop is set (and what was at work is not).
 */
int runner_visit(struct runner *, struct visit *);

#endif
