/*
 * The time a process is watched: all that counts begins and ends together.
 */
#ifndef WATCH_H
#define WATCH_H

#include <sys/types.h>

struct calls;
struct halt;
struct held;
struct perf;

struct watch {
	pid_t pid;
	struct held *held; /* the command; NULL: the process runs already */
	struct halt *halt;
	double delay, duration; /* s; duration 0: until the process ends */
	struct perf *sampler, *counters; /* NULL: not this */
	struct calls *calls;
	void (*begun)(void *arg); /* all counts; NULL: none */
	void (*ended)(void *arg);
	void *arg;
};

/* The time, s, that was watched, or -1 and said. Ctrl-C ends it early. */
double watch_run(struct watch *);

#endif
