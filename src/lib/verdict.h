/*
 * Compares one metric of one case between two samples and decides by a margin.
 * x is the baseline, y the contender.
 *
 * The rule: a change is reported if it is significant (p adjusted for the whole
 * report) and its estimate is beyond the margin; "no change" if the 90%
 * interval is within the margin (two one-sided tests, Schuirmann 1987);
 * otherwise the result is inconclusive.
 */
#ifndef VERDICT_H
#define VERDICT_H

#include <stdbool.h>
#include <stddef.h>

#include "metric.h"
#include "power.h"
#include "serial.h"

enum verdict {
	VERDICT_REGRESSION,
	VERDICT_IMPROVEMENT,
	VERDICT_DIFFERENT, /* a change; neither direction is better */
	VERDICT_EQUIVALENT,
	VERDICT_INCONCLUSIVE,
	VERDICT_INSUFFICIENT,
	VERDICTS
};

const char *verdict_name(enum verdict);

/* Returns the verdict of a change up, or down. */
enum verdict verdict_direction(enum metric_better, bool up);

/* Are too many runs needed to advise them: more than 100, and more than ten
 * times those that a side has? */
bool verdict_is_hopeless(double needed, double have);

enum { VERDICT_RUNS = POWER_RUNS, VERDICT_PAIRS = POWER_PAIRS };

/* Results of the comparison; NAN: not defined. */
struct verdict_facts {
	size_t m, n;
	bool paired;
	bool assumed;       /* without noise: one value is enough */
	const char *method; /* mwu-exact, mwu-normal, signed-rank,
			     * exact (both sides constant: the chance that
			     * rounding made them so), identical, assumed */
	double median[2];
	double ratio; /* y over x, Hodges-Lehmann; x > 0 and y >= 0 */
	double lo95, hi95, lo90, hi90; /* NAN if a side has one value */
	double p;     /* NAN: compared exactly, without a test */
	double p_min; /* the smallest p that so many values can give, or NAN */
	struct serial serial; /* unpaired; r 0: the runs are independent */
	double p_serial;      /* p allowing for r, if r is not 0 */
	double cliff;         /* Cliff's delta of y over x, unless paired */
	double sd; /* of ln(value), pooled, or of ln(y/x) if paired; 0 if
		    * 'assumed' and no side varies */
};

/* A sample compared with itself: the ratio is 1, whatever the noise. */
struct verdict_facts verdict_measure_same(
    const double *x, size_t n, bool paired);

/* paired: m = n, x[i] and y[i] were interleaved. m, n >= 1. */
struct verdict_facts verdict_measure(
    const double *x, size_t m, const double *y, size_t n, bool paired);

/*
 * The same at one look of several (sequential.h): lo95, hi95 cover 1 - level05,
 * and lo90, hi90 cover 1 - level10, the levels of the look for .05 and .10. If
 * the runs of a side are autocorrelated (serial.h; 'serial' NULL: they are not)
 * and all values are above 0, then lo90, hi90, sd and verdict_p allow for it;
 * lo95, hi95 and p are for independent runs.
 */
struct verdict_facts verdict_measure_looked(const double *x, size_t m,
    const double *y, size_t n, bool paired, double level05, double level10,
    const struct serial *serial);

/* p, allowing for autocorrelated runs; NAN: there was no test. */
double verdict_p(const struct verdict_facts *);

/*
 * For a metric without noise: compares the medians without a test. The
 * intervals are set if no side varies and each has two values. m, n >= 1.
 */
struct verdict_facts verdict_measure_exact(
    const double *x, size_t m, const double *y, size_t n);

/*
 * p is adjusted; it is ignored if the facts have no p. *certain: the whole 90%
 * interval is beyond the margin.
 */
enum verdict verdict_decide(const struct verdict_facts *, enum metric_better,
    double margin, double p, double alpha, bool *certain);

/* Compute adjusted p values: Holm (1979), Benjamini & Hochberg (1995). A p that
 * is NAN is not a test: it stays NAN, and does not count. */
void verdict_holm(const double *p, double *adjusted, size_t n);
void verdict_bh(const double *p, double *adjusted, size_t n);

/*
 * Returns the runs per side (or pairs) that would decide an inconclusive row:
 * enough to detect a change as large as the margin with power .8, enough for
 * the smallest p to be significant as one of 'tests' (Holm), and twice the
 * present runs if those should have been enough. 0: unknown.
 */
size_t verdict_needed_runs(
    const struct verdict_facts *, double margin, size_t tests);

/* Returns the smallest relative change that these runs detect with power .8, as
 * a fraction; NAN: unknown. */
double verdict_visible_change(const struct verdict_facts *);

#endif
