/*
 * The shift of the latencies of a case: quantiles of the merged histograms of
 * both sides, each with a ratio and interval from the quantiles of the runs, by
 * the method of the rows.
 */
#ifndef SHIFT_H
#define SHIFT_H

#include <stddef.h>

#include "hist.h"

struct comparison;
struct pairing;

enum { SHIFT_LINES = 8 };

struct shift_line {
	double percentile;
	double value[2];      /* of the merged histograms */
	double ratio, lo, hi; /* of the runs; NAN: not known */
};

struct shift {
	const struct pairing *pair;
	char *hist; /* its name, "latency_ns" */
	struct shift_line v[SHIFT_LINES];
	size_t n;
	struct histdiff diff;
};

/*
 * Makes the shifts of all cases with histograms and quantiles on both sides.
 * Returns -1, after reporting it, if a histogram cannot be read; the others are
 * there.
 */
int shifts_new(struct comparison *);

/* Returns the unit for people, "ms" for latency_ns, and sets *by to the divisor
 * of its values. */
const char *shift_unit(const struct shift *, double *by);

#endif
