/* One repetition of one case: a server, the load, the record. */
#ifndef RUNNER_H
#define RUNNER_H

#include <stddef.h>
#include <stdint.h>

#include "order.h"

struct coproc;
struct engine;
struct json;
struct looks;
struct precise;
struct progress;
struct results;
struct running;

struct runner {
	struct json *const *cases;
	struct json *const *builds; /* records with subject and server */
	const struct engine *engines;
	const struct looks *looks;
	struct precise *precise; /* is told of each run that went well */
	struct results *results;
	struct progress *progress;
	struct running *running;    /* NULL: servers of our own, by vkb-serve */
	struct coproc *coproc;      /* NULL: is started; owned by the caller */
	const struct json *machine; /* env record, before the first run; NULL */
	const struct json *env;     /* what each run repeats of it */
	char session[16];
	uint64_t seed;
	double timeout_s;
	size_t order; /* runs begun */
	const volatile int *stop;
	volatile int halt; /* ends the run: *stop, or the server ended */
};

/*
 * 0: the run was measured and written. 1: it failed, that was said and
 * written. -1: it could not be written, or *stop is set (nothing is written).
 */
int runner_run(struct runner *, const struct slot *);

#endif
