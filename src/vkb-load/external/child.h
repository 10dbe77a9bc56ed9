/*
 * Runs another program that makes the load. It is watched and cannot outlive
 * us; its output is kept, up to a limit.
 */
#ifndef CHILD_H
#define CHILD_H

#include <stdbool.h>

#include "str.h"

struct engine_job;
struct servercounts;
struct watch;

/*
 * In each interval as long as the timeout of the work, or 60 s, the servers
 * must serve something.
 */
struct child_spec {
	const struct engine_job *job; /* whose first work it does */
	const char *const *argv;
	const char *const *setenv; /* as in proc.h */
	double expected_s;         /* for the progress; 0: unknown */
	double most_s; /* limit if there is no timeout; 0: unlimited */
	bool warmup;
};

struct child {
	struct str out, err;
	int status;          /* as from waitpid */
	struct watch *watch; /* of its whole life */
	/* Of it, read to the end if it succeeded. */
	struct servercounts *counts;
};

/*
 * Returns 0 if the program ended by itself; -1 after reporting that it could
 * not be started, or was killed for taking too long, sending nothing or
 * printing too much, or the servers did not answer; or -1 silently when *stop
 * is set. Its output is kept in any case; the caller calls child_free in any
 * case.
 */
int child_run(const struct child_spec *, struct child *);
void child_free(struct child *);

/* Returns how it ended and its last output, in one line; caller frees. */
char *child_describe_end(const struct child *, const char *name);

#endif
