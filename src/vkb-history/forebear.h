/*
 * Chooses the baseline of a commit: the newest measured commits before it.
 */
#ifndef FOREBEAR_H
#define FOREBEAR_H

#include <stddef.h>

struct forebear {
	const char *commit; /* NULL: the newest of all */
	const char *repo;   /* has its ancestors; NULL: not given */
	size_t most;        /* how many commits */
};

/*
 * Writes the records of the baseline, and of the commit itself, to stdout, the
 * oldest first. Prints a warning if there are none. Returns -1 on error, after
 * reporting it.
 */
int forebear_print(const char *dir, const struct forebear *);

#endif
