/*
 * Trends of values in time: how many to cut at the start as warm-up, whether
 * the rest drifts, and how to classify the whole.
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
 * Returns how many values to cut at the start: the number d of batches of 5, up
 * to half of the batches, that minimises the sum of squares of the other
 * batches / (their number)^2; the smallest such d. *mser, unless NULL, is the
 * minimum. Fewer than 5 values: NAN, and no cut.
 */
size_t steady_mser5(const double *v, size_t n, double *mser);

/*
 * Change per step: the median of the slopes of all pairs, and its 95 % interval
 * by Kendall's variance; the interval is NAN for fewer than 6 values.
 */
struct steady_trend {
	double slope, lo, hi;
};

/*
 * If n > 'most' (>= 2), medians of groups of neighbours replace the values; the
 * groups are as small as leaves at most 'most'. n < 2: all NAN. steady_slope
 * computes no interval and takes a third of the time.
 */
struct steady_trend steady_trend(const double *v, size_t n, size_t most);
double steady_slope(const double *v, size_t n, size_t most);

/*
 * The change from the first to the last value by this slope, relative to the
 * median: .02 is a rise by 2 %. 0 for a slope of 0; NAN for a median of 0.
 * n < 2 returns the slope.
 */
double steady_drift(const double *v, size_t n, double slope);

enum steady_verdict { STEADY_NONE, STEADY_STEADY, STEADY_DRIFTING };

enum { STEADY_LEAST = 30 };
#define STEADY_DRIFT .02

struct steady {
	enum steady_verdict verdict;
	size_t cut;   /* values at the start */
	double drift; /* of the values after the cut */
};

/*
 * none: fewer than STEADY_LEAST values; steady: |drift| <= STEADY_DRIFT. The
 * slope is that of steady_slope with most = 1024.
 */
struct steady steady_judge(const double *v, size_t n);

enum steady_kind {
	STEADY_FLAT,
	STEADY_WARMUP,   /* the last level is the best */
	STEADY_SLOWDOWN, /* an earlier level was better than the last */
	STEADY_UNSTEADY, /* the level changes in the last quarter */
	STEADY_KINDS
};

/*
 * Classifies by the levels that start at first[0..k-1] (indexes in v, rising,
 * above 0; k may be 0). A level equals the last one if their medians differ by
 * at most 2 % or the interquartile range of the last one. n >= 1.
 */
enum steady_kind steady_classify(const double *v, size_t n, const size_t *first,
    size_t k, bool more_is_better);

/* flat, warmup, slowdown, unsteady */
const char *steady_kind_name(enum steady_kind);

#endif
