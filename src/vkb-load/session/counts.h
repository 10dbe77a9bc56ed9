/*
 * Counted runs: each case on each build, twice, each time on a fresh server
 * under callgrind. They come after the measured runs and do not disturb them.
 */
#ifndef COUNTS_H
#define COUNTS_H

#include <stdbool.h>
#include <stddef.h>

struct case_runner;
struct schedule;

struct counts_opts {
	bool all;      /* count every case, not just those that ask for it */
	bool only;     /* and measure nothing */
	bool possible; /* count every case that can be counted; if none can,
			* counts_check clears it */
};

/* Is any case counted? */
bool counts_any(const struct counts_opts *, const struct schedule *);

/*
 * Checks before anything is measured that all that is wanted can be counted.
 * 'running': the server is not ours. Returns 0, or -1 after reporting what
 * cannot be counted, and why. With 'possible' that is not
 * an error.
 */
int counts_check(struct counts_opts *, const struct schedule *, bool running);

/* Says how many counts are to be made, and what they cost; nothing if none. */
void counts_announce(const struct counts_opts *, const struct schedule *);

/*
 * Makes the counted runs that are not finished, and says where two servers
 * disagree. Adds those that failed to *failed. Returns 0, or -1 if a record
 * could not be written or the session was stopped.
 */
int counts_run(const struct counts_opts *, struct case_runner *, bool verbose,
    size_t *failed);

#endif
