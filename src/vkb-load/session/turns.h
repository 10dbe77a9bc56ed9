/* Makes the turns of a schedule, those of several builds in slices together. */
#ifndef TURNS_H
#define TURNS_H

#include <stddef.h>

struct case_runner;
struct schedule;

struct turns {
	struct schedule *schedule;
	struct case_runner *runner;
	size_t at;     /* the current turn */
	size_t failed; /* runs that failed so far */
};

/*
 * Makes all turns of the schedule that are wanted. Returns 0, or -1 if records
 * could not be written or the session is to stop.
 */
int turns_run(struct turns *);

#endif
