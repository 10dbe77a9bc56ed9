/*
 * Compares one metric of one case between two samples and decides by a margin.
 * x is the baseline, y the contender.
 *
 * The rule: a change is reported if it is significant (p adjusted for all tests
 * of its family) and its estimate is beyond the margin; it is likely if its
 * 95% interval has one sign, but p does not pass; "no change" if the 90%
 * interval is within the margin (two one-sided tests, Schuirmann 1987);
 * otherwise the result is inconclusive. Without a test, runs that differ show a
 * change, or none, if all of their ratios do.
 */
#ifndef VERDICT_H
#define VERDICT_H

#include <stdbool.h>
#include <stddef.h>

#include "metric.h"
#include "moderate.h"
#include "power.h"

enum verdict {
	VERDICT_REGRESSION,
	VERDICT_IMPROVEMENT,
	VERDICT_DIFFERENT,         /* a change; neither direction is better */
	VERDICT_LIKELY_REGRESSION, /* by its own p, not among all tests */
	VERDICT_LIKELY_IMPROVEMENT,
	VERDICT_LIKELY_DIFFERENT,
	VERDICT_EQUIVALENT,
	VERDICT_INCONCLUSIVE,
	VERDICT_INSUFFICIENT,
	VERDICTS
};

const char *verdict_name(enum verdict);

/* Returns "worse", "likely better", "no change", ...: for people. */
const char *verdict_word(enum verdict);

/* Returns "up from 0" or the like for a value that is 0 now or was, so that a
 * percentage is not defined; NULL: it has a ratio, or is below 0, or NAN. */
const char *verdict_name_zero(double before, double now);

bool verdict_is_likely(enum verdict);

/* Returns the verdict of a change up, or down. */
enum verdict verdict_direction(enum metric_better, bool up);

/* Are too many runs needed to advise them: for more than an hour, or if the
 * minutes are not known, NAN, more than 100, and more than ten times those that
 * a side has? */
bool verdict_is_hopeless(double needed, double have, double minutes);

enum { VERDICT_RUNS = POWER_RUNS, VERDICT_PAIRS = POWER_PAIRS };

/* Results of the comparison; NAN: not defined. */
struct verdict_facts {
	size_t m, n;
	bool paired;
	bool assumed;       /* without noise: one value is enough */
	const char *method; /* mwu-exact, mwu-normal, signed-rank, t,
			     * moderated-t, exact (both sides constant: the
			     * chance that rounding made them so), identical,
			     * assumed */
	double median[2];
	double ratio; /* y over x, Hodges-Lehmann, or of the geometric means
		       * if the test is t; x > 0 and y >= 0 */
	double lo95, hi95, lo90, hi90; /* NAN if a side has one value */
	double p;      /* NAN: compared exactly, without a test */
	double p_min;  /* the smallest p that so many values can give, or NAN */
	double change; /* mean of ln(y) less that of ln(x), or NAN */
	/* Of ln(value) on each side; paired: [0] of ln(y/x). df 0: unknown. */
	struct moderate noise[2];
	double serial;   /* lag-1 autocorrelation allowed for, or 0 */
	double wider[2]; /* by which it multiplies the variance of a mean */
	double se, df;   /* of 'change'; NAN: not known */
	bool assumed_se; /* it is not estimated from these runs */
	struct moderate prior; /* that the noise was shrunk to; df 0: none */
	double cliff;          /* Cliff's delta of y over x, unless paired */
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
 * and lo90, hi90 cover 1 - level10, the levels of the look for .05 and .10.
 */
struct verdict_facts verdict_measure_looked(const double *x, size_t m,
    const double *y, size_t n, bool paired, double level05, double level10);

/*
 * Allows for the lag-1 autocorrelation r of unpaired runs, of which series[j]
 * series make up side j (serial.h): widens the variance of the mean, and counts
 * fewer degrees of freedom of the noise.
 */
void verdict_set_serial(
    struct verdict_facts *, double r, const size_t series[2]);

/* Sets 'se' and 'df', with the noise shrunk towards the prior unless its df is
 * 0. They stay NAN if there is no 'change'. */
void verdict_set_error(struct verdict_facts *, const struct moderate *prior);

/*
 * Replaces the test and the intervals by those of Student's t on logarithms,
 * with the error set before and the levels of verdict_measure_looked. Changes
 * nothing, and returns false, if there is no error above 0.
 */
bool verdict_use_t(
    struct verdict_facts *, bool moderated, double level05, double level10);

/*
 * For a metric without noise: compares the medians without a test. The
 * intervals are set if no side varies and each has two values; if a side varies
 * they hold all ratios of its values. m, n >= 1.
 */
struct verdict_facts verdict_measure_exact(
    const double *x, size_t m, const double *y, size_t n);

/* Is it a metric without noise whose runs differ, which is judged by their
 * spread? */
bool verdict_is_spread(const struct verdict_facts *);

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
 * The probability that rounding alone makes two sides constant and different:
 * a coarse clock puts all of one side into one step and all of the other into
 * the next. It is at most the maximum of 2 q^m (1-q)^n, at q = m/(m+n).
 */
double verdict_chance(double m, double n);

#endif
