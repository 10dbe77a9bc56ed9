/*
 * How many runs a session needs, and what its runs can show, before anything is
 * measured: by plan.h, for builds that are measured interleaved.
 */
#ifndef SAMPLESIZE_H
#define SAMPLESIZE_H

#include <stddef.h>

/* What the runs of a session are planned for. */
#define SAMPLESIZE_CHANGE .105 /* of one case: 10 % in a message */
#define SAMPLESIZE_NOISE .03   /* standard deviation of ln(value) of a run */

enum { SAMPLESIZE_LEAST = 6, SAMPLESIZE_MOST = 10 };

struct samplesize {
	size_t cases;  /* at least 1 */
	size_t builds; /* the first is compared with each other; 1: with one */
	double noise;  /* as SAMPLESIZE_NOISE, above 0 */
	double margin; /* of the primary metric */
};

/*
 * Returns the smallest relative change of one case, as a fraction, that 'runs'
 * runs of each case and build find in 4 of 5 comparisons. NAN: none, because
 * there are too few for any verdict.
 */
double samplesize_visible_change(const struct samplesize *, size_t runs);

/* Returns the fewest runs from 'least' to 'most' that find the change so;
 * 'most' if none of them does. */
size_t samplesize_find_runs(
    const struct samplesize *, double change, size_t least, size_t most);

#endif
