/*
 * Runs another program that makes the load. It is watched and cannot outlive
 * us; its output is kept, up to a limit.
 */
#ifndef CHILD_H
#define CHILD_H

#include <sched.h>
#include <stdbool.h>

#include "str.h"
#include "vkb-load/engine/engine.h"

struct reaper;
struct served;
struct watch;

struct child_spec {
	const char *const *argv;
	const char *const *setenv; /* as in proc.h */
	const cpu_set_t *cpus;     /* NULL: inherited */
	int threads;               /* threads of its load */
	const struct engine_target *target;
	struct served *served; /* the servers must serve something ... */
	double silence_s;      /* ... in each interval of this length */
	double expected_s;     /* for the progress; 0: unknown */
	double most_s;         /* time limit; 0: none */
	struct reaper *reaper; /* kills it when we are killed */
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
 * Returns 0 if the program ended by itself; -1 after reporting that it could
 * not be started, or was killed for taking too long, sending nothing or
 * printing too much; or -1 silently when *stop is set. Its output is kept in
 * any case; the caller calls child_free in any case.
 */
int child_run(const struct child_spec *, struct child *);
void child_free(struct child *);

/* Returns how it ended and its last output, in one line; caller frees. */
char *child_last_words(const struct child *, const char *name);

#endif
