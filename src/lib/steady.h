/*
 * The course of values in time: what to cut at the start, whether the rest
 * still drifts, and what kind of course it is.
 *
 * Sources: MSER-5, White, "An effective truncation heuristic for bias
 * reduction in simulation output", Simulation 69 (1997); slope and interval,
 * Theil (1950) and Sen, JASA 63 (1968); the kinds after Barrett et al.,
 * "Virtual Machine Warmup Blows Hot and Cold", OOPSLA 2017.
 */
#ifndef STEADY_H
#define STEADY_H

#include <stdbool.h>
#include <stddef.h>

/*
 * How many values to cut: batches of 5, the d of up to half of the batches
 * that makes the sum of squares of the others / (their number)^2 least (the
 * first of equal ones). *mser, where given, is that least; NAN, and no cut, for
 * fewer than 5 values.
 */
size_t steady_mser5(const double *v, size_t n, double *mser);

/*
 * Change a step: the median of the slopes of all pairs, and its 95 % interval
 * by Kendall's variance; NAN where there are too few for one (below 6).
 */
struct steady_trend {
	double slope, lo, hi;
};

/*
 * Above 'most' (>= 2) values the slopes are those of medians of neighbours, as
 * few of them together as leave no more. n < 2: all NAN. Without the interval
 * it takes a third of the time.
 */
struct steady_trend steady_trend(const double *v, size_t n, size_t most);
double steady_slope(const double *v, size_t n, size_t most);

/*
 * What the slope makes from the first to the last value, over their median:
 * .02 is up by 2 %. 0 for a slope of 0; NAN for n < 2 and for a median of 0.
 */
double steady_drift(const double *v, size_t n, double slope);

enum steady_verdict { STEADY_NONE, STEADY_STEADY, STEADY_DRIFTING };

enum { STEADY_LEAST = 30 };
#define STEADY_DRIFT .02

struct steady {
	enum steady_verdict verdict;
	size_t cut;   /* values at the start */
	double drift; /* of those after the cut */
};

/*
 * none: fewer than STEADY_LEAST values; steady: |drift| <= STEADY_DRIFT, of the
 * slopes of up to 1024 values.
 */
struct steady steady_judge(const double *v, size_t n);

enum steady_kind {
	STEADY_FLAT,
	STEADY_WARMUP,   /* it ends at the best of its levels */
	STEADY_SLOWDOWN, /* it ends at a level, and has seen a better one */
	STEADY_UNSTEADY, /* its last quarter has no level */
	STEADY_KINDS
};

/*
 * By the levels that start at first[0..k-1] (places in v, rising, above 0; k
 * may be 0). Two levels are alike where their medians differ by no more than
 * 2 % or the distance of the quartiles of the last one. n >= 1.
 */
enum steady_kind steady_classify(const double *v, size_t n, const size_t *first,
    size_t k, bool more_is_better);

/* flat, warmup, slowdown, unsteady */
const char *steady_kind_name(enum steady_kind);

#endif
