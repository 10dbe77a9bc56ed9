/*
 * How many runs a session makes: a fixed number of each case and build, or with
 * a budget of time at least that number, and then more of the cases that are
 * not decided (deciding.h).
 */
#ifndef BUDGET_H
#define BUDGET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct schedule;
struct str;

struct budget {
	struct schedule *schedule;
	size_t cases;        /* that are measured */
	double all_s;        /* of all cases; 0: the number of runs is fixed */
	int64_t begun;       /* ns of clock_ns; 0: nothing is measured yet */
	size_t made, next;   /* repetitions that were, and will be, wanted */
	size_t look, looked; /* made at the next and at the last look */
	bool quiet, verbose; /* as the options */
};

/* The schedule has its cases and 'runs'. 'each_s': of each case, or 0. */
void budget_open(struct budget *, struct schedule *, double each_s);

/* Before the first run: begins the time. */
void budget_begin(struct budget *);

/* Returns the seconds that are left. */
double budget_find_left(const struct budget *);

/* Adds "at least 7 runs of each of 8 cases, at most 8m00s; ...". */
void budget_announce(const struct budget *, struct str *);

/*
 * Makes the turns of the next repetitions: of the runs that are made in any
 * case, then of those up to the next look that end within the budget, one round
 * at a time where there are rounds. Returns whether there are any.
 */
bool budget_make_turns(struct budget *);

/* After these turns: at a look, ends the cases that are decided. */
void budget_end_turns(struct budget *);

/* At the end: says which cases are undecided, and why. */
void budget_end(struct budget *);

#endif
