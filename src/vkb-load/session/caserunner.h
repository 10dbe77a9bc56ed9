/* Visits: run the cases of a scene on a server and write their records. */
#ifndef CASERUNNER_H
#define CASERUNNER_H

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
struct stopping_rule;
struct ci_width;
struct profiles_opts;
struct progress;
struct results;
struct extserver;

struct case_runner {
	struct json *const *cases;
	const struct scene *scenes;
	struct json *const *builds; /* records with subject and server */
	const struct engine *engines;
	const struct stopping_rule *rule;
	struct ci_width *precise; /* gets each run that succeeded */
	struct results *results;
	const struct profiles_opts *profiles;
	struct progress *progress;
	engine_progress_fn *show; /* shows the run, called with 'progress' */
	struct logs *logs;
	char run_name[32];          /* of the current turn, for the logs */
	struct extserver *external; /* NULL: vkb-serve starts servers */
	struct coproc *coproc;  /* NULL: started when needed; caller closes */
	struct json *machine;   /* env record still to be written; or NULL */
	const struct json *env; /* what each run repeats of it */
	char session[16];
	uint64_t seed;
	double timeout_s;
	size_t order;   /* runs begun */
	size_t servers; /* started */
	const volatile int *stop;
	volatile int halt; /* ends the run: *stop, or the server ended */

	/* called before each run that is measured */
	void (*announce)(void *arg, const struct turn *, size_t cas);
	void *arg;
};

/* What is to be measured in a turn. */
struct case_run {
	const struct turn *slot;
	bool *wanted; /* by place in the scene; cleared when a run succeeds */
	size_t failed;
	bool profile; /* profile instead of measuring */
};

/*
 * Runs a case that is not wanted, without recording it, if a later one needs
 * its data. 0 if all wanted cases were measured, or failed, and were written;
 * -1 if not all could be written, or *stop is set (the current run is not
 * written).
 */
int case_runner_run(struct case_runner *, struct case_run *);

#endif
