/*
 * How the latencies of a case moved: quantiles of its merged histograms side
 * by side, and how sure each change is, from the quantiles of the runs, by the
 * method of the deltas.
 */
#ifndef SHIFT_H
#define SHIFT_H

#include <stddef.h>

#include "histdiff.h"

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
	const char *hist; /* its name, "latency_ns"; borrowed */
	struct shift_line v[SHIFT_LINES];
	size_t n;
	struct histdiff diff;
};

struct shifts {
	struct shift *v;
	size_t n, cap;
};

/*
 * Of all cases where both sides have a histogram, and quantiles of its runs.
 * 0, or -1 and said: some histogram cannot be read; the others are there.
 */
int shifts_new(struct shifts *, const struct comparison *);
void shifts_free(struct shifts *);

/* For people: "ms" for latency_ns, and by what its values are divided. */
const char *shift_unit(const struct shift *, double *by);

#endif
