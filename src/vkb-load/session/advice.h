/*
 * Messages of a session about its runs: before it measures, what changes their
 * number can show; and warnings about runs that are too short, that read keys
 * which do not exist, or that did not reach their rate.
 */
#ifndef ADVICE_H
#define ADVICE_H

#include <stdbool.h>
#include <stddef.h>

struct json;
struct schedule;
struct advice_rate;

struct advice {
	const struct schedule *schedule;
	bool quiet;
	bool *is_short; /* of each case: its runs are, and it was counted */
	bool
	    *misses; /* of each case: the warning that reads miss was printed */
	struct advice_rate **rates; /* of each case and role */
	size_t too_short; /* cases whose length was known by a run alone */
};

/* Returns how many runs of each case and build '--runs auto' makes. */
size_t advice_choose_runs(const struct schedule *);

/* The schedule has its cases, and is borrowed. quiet: no message is printed. */
void advice_open(struct advice *, const struct schedule *, bool quiet);
void advice_close(struct advice *);

/*
 * Before the first run: warns of a number of runs that can show nothing, else
 * tells what it can show if 'tell'; warns of durations that are too short.
 */
void advice_begin(struct advice *, bool tell);

/* After a run of a case, for each role: 'metrics' are those of its record. */
void advice_check_run(
    struct advice *, size_t cas, size_t role, const struct json *metrics);

/* After the last run: tells how many cases had runs that were too short, and
 * for each case how often its rate was not reached. */
void advice_end(const struct advice *);

#endif
