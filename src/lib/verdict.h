/*
 * Is it slower? One metric of one case: what two samples say, and what that
 * means for a margin. x is the baseline, y the contender.
 *
 * The rule: a change is reported when it is significant (p adjusted for the
 * whole report) and its estimate lies beyond the margin; "no change" when the
 * 90% interval lies within the margin (two one-sided tests, Schuirmann 1987);
 * otherwise nothing is known yet.
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
	VERDICT_DIFFERENT, /* a change where neither way is better */
	VERDICT_EQUIVALENT,
	VERDICT_INCONCLUSIVE,
	VERDICT_INSUFFICIENT,
	VERDICTS
};

const char *verdict_name(enum verdict);

/* Would it take more runs than anybody makes: more than 100, and more than ten
 * times those that a side has? Then no number of runs is advised. */
bool verdict_hopeless(double needed, double have);

enum { VERDICT_RUNS = POWER_RUNS, VERDICT_PAIRS = POWER_PAIRS };

/* What was measured; NAN where it is not defined. */
struct verdict_facts {
	size_t m, n;
	bool paired;
	bool assumed;       /* without noise: one value is enough */
	const char *method; /* mwu-exact, mwu-normal, signed-rank,
			     * exact (both sides constant: the chance that
			     * rounding made them so), identical, assumed */
	double median[2];
	double ratio; /* y over x, Hodges-Lehmann; x > 0 and y >= 0 */
	double lo95, hi95, lo90, hi90; /* NAN where a side has one value */
	double p;     /* NAN: compared exactly, without a test */
	double p_min; /* the smallest so many values can give; NAN as p */
	struct serial alike; /* unpaired; r 0: the runs are independent */
	double p_alike;      /* where r is not 0 */
	double cliff;        /* Cliff's delta of y over x, where not paired */
	double sd; /* of ln(value), pooled; or of ln(y/x) where paired; 0 where
		    * 'assumed' and no side varies */
};

/* A measurement against itself: no change, however noisy it is. */
struct verdict_facts verdict_itself(const double *x, size_t n, bool paired);

/* paired: m = n, x[i] and y[i] were interleaved. m, n >= 1. */
struct verdict_facts verdict_measure(
    const double *x, size_t m, const double *y, size_t n, bool paired);

/*
 * The same at a look of a session that looks more than once (sequential.h):
 * lo95, hi95 cover 1 - level05, and lo90, hi90 cover 1 - level10, which are the
 * levels of the look for .05 and .10. Where the runs of a side are alike
 * (serial.h; NULL: they are not) and all values are above 0, lo90, hi90 and sd
 * allow for it, and so does verdict_p; lo95, hi95 and p are of independent
 * runs.
 */
struct verdict_facts verdict_look(const double *x, size_t m, const double *y,
    size_t n, bool paired, double level05, double level10,
    const struct serial *alike);

/* p, with regard to runs that are alike; NAN: there was no test. */
double verdict_p(const struct verdict_facts *);

/*
 * A metric that has no noise: the medians are compared, without a test. There
 * are intervals where no side varies and each has two values. m, n >= 1.
 */
struct verdict_facts verdict_assume(
    const double *x, size_t m, const double *y, size_t n);

/*
 * p is adjusted; it is ignored where the facts have none. *certain: the whole
 * 90% interval lies beyond the margin.
 */
enum verdict verdict_decide(const struct verdict_facts *, enum metric_better,
    double margin, double p, double alpha, bool *certain);

/* Adjusted p, in the order of p: Holm (1979), Benjamini & Hochberg (1995). */
void verdict_holm(const double *p, double *adjusted, size_t n);
void verdict_bh(const double *p, double *adjusted, size_t n);

/*
 * Runs a side (or pairs) that would settle an inconclusive row: enough to see
 * a change as large as the margin with power .8, enough for the smallest p to
 * pass as one of 'tests' (Holm), and at least twice those there are where that
 * many should have been enough. 0: cannot be said.
 */
size_t verdict_needed(
    const struct verdict_facts *, double margin, size_t tests);

/* The smallest relative change that so many runs of this noise would show with
 * power .8, as a part of 1; NAN: cannot be said. */
double verdict_visible(const struct verdict_facts *);

#endif
