/*
 * Another program that makes the load: it is watched, and cannot outlive us.
 * What it prints is kept, up to a bound.
 */
#ifndef CHILD_H
#define CHILD_H

#include <sched.h>
#include <stdbool.h>

#include "str.h"
#include "vkb-load/engine/engine.h"

struct guard;
struct served;
struct watch;

struct child_spec {
	const char *const *argv;
	const char *const *setenv; /* as in proc.h */
	const cpu_set_t *cpus;     /* NULL: as it is */
	int threads;               /* it makes load with */
	const struct engine_target *target;
	struct served *served; /* what it loads must serve something ... */
	double silence_s;      /* ... in each such time */
	double expected_s;     /* for the progress; 0: not known */
	double most_s;         /* it may take; 0: no bound */
	struct guard *guard;   /* ends it when we are killed */
	const volatile int *stop;
	engine_progress_fn *progress;
	void *arg;
	bool warmup;
};

struct child {
	struct str out, err;
	int status;          /* as from waitpid */
	struct watch *watch; /* of its whole life */
};

/*
 * 0: it has ended by itself. -1, and said: it could not be started, or was
 * ended by us: too slow, too silent, too talkative; or *stop is set, unsaid.
 * What it printed is there anyway; child_free in any case.
 */
int child_run(const struct child_spec *, struct child *);
void child_free(struct child *);

/* How it ended and what it said last, in one line; caller frees. */
char *child_last_words(const struct child *, const char *name);

#endif
