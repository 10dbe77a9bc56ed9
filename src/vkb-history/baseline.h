/*
 * Chooses the baseline of a commit: the newest measured commits before it.
 */
#ifndef BASELINE_H
#define BASELINE_H

#include <stddef.h>

struct baseline {
	const char *commit; /* NULL: the newest of all */
	const char *repo;   /* has its ancestors; NULL: not given */
	size_t most;        /* how many commits */
};

/*
 * Writes the records of the baseline, and of the commit itself, to stdout, the
 * oldest first. Prints a warning if there are none. Returns -1 on error, after
 * reporting it.
 */
int baseline_print(const char *dir, const struct baseline *);

#endif
