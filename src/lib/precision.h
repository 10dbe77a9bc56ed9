/*
 * The noise of one metric over its runs: where it comes from, whether the
 * metric drifts, and how many more runs the wanted precision takes.
 */
#ifndef PRECISION_H
#define PRECISION_H

#include <stdbool.h>
#include <stddef.h>

#include "variance.h"

struct str;

struct precision {
	const struct variance_run *runs; /* those of a session are adjacent */
	size_t n;
	bool timed; /* the runs of a session are in the order of time */
	double mean, median;
	double lo, hi; /* interval of the median; 0, INFINITY: unknown */
};

/*
 * Appends split, advice, drift_percent, drifting and precision as members of a
 * JSON object. 'wanted' is the relative half width to reach, or 0.
 */
void precision_append(struct str *, const struct precision *, double wanted);

#endif
