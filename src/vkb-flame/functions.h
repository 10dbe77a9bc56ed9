/*
 * The functions of profiles, summed over all callers: their total, which
 * includes what they call, and what they take themselves.
 */
#ifndef FUNCTIONS_H
#define FUNCTIONS_H

#include <stddef.h>

struct calltree;
struct diff;
struct str;

/* A summed tree; 'diff' is NULL without a baseline, 'unit' without counts. */
struct functions_of {
	const struct calltree *tree;
	const struct diff *diff;
	const char *unit;
	size_t na, n; /* profiles of the baseline, and of both sides */
	double min_share;
};

struct function {
	const char *name; /* borrowed from the tree */
	/* Shares of all samples, or counts: of the baseline and the contender.
	 * Without a baseline only the second is set. */
	double total[2], self[2];
	double p; /* of 'total', adjusted; NAN: not tested */
};

/*
 * Returns the functions that have at least 'min_share' on one side, and their
 * number in *count; the caller frees. A function that calls itself is counted
 * once. The largest change of the total is first; without a baseline, the
 * largest 'self'.
 */
struct function *functions_list(const struct functions_of *, size_t *count);

/* Returns "new", "vanished", "gained", "lost", "not significant", "too few
 * samples", or of counts "same". */
const char *functions_describe(
    const struct functions_of *, const struct function *);

/* Writes the functions of samples as a table for a terminal. */
void functions_write(struct str *, const struct functions_of *);

#endif
