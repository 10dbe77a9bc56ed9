/*
 * Counted runs: each case on each build, each time on a fresh server under
 * callgrind, as many at once as there are CPUs. They come before the measured
 * runs, each in a process of its own. Two servers must agree: where those of
 * all builds do, each build has one, else each has two.
 */
#ifndef COUNTS_H
#define COUNTS_H

#include <stdbool.h>
#include <stddef.h>

struct case_context;
struct json;
struct schedule;
struct serve;

struct counts_opts {
	bool all;  /* count every case that can be, not just those that ask */
	bool only; /* and measure nothing */
	bool possible; /* as all, but the session does not fail if a count
			* fails or nothing can be counted on this machine */
};

/*
 * Sets 'counted' of the cases to count, before anything is measured. 'running':
 * the server is not ours. Says which cases cannot be counted, and why. Returns
 * -1 if the configuration of one of them demands a count, or 'only' is set, or
 * no server can be counted here and 'possible' is not set; else 0.
 */
int counts_choose(const struct counts_opts *, struct schedule *, bool running);

/* Is any case counted? */
bool counts_any(const struct schedule *);

/* Says how many counts are to be made; nothing if none. */
void counts_announce(const struct schedule *, const struct serve *);

/*
 * Makes the counted runs that are not finished, and says how long that takes,
 * unless it is quiet or short, how the builds differ in each case once all have
 * counted it, and where two servers disagree. *machine is the env record that
 * is still to be written, or NULL. Adds the counts that failed to *failed.
 * Returns 0, or -1 if a record could not be written or the session was stopped.
 */
int counts_run(struct case_context *, struct schedule *, struct json **machine,
    bool verbose, bool quiet, size_t *failed);

#endif
