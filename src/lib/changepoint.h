/*
 * Finds where a series changes its level. The points are in order, one for each
 * commit; NAN and infinities are missing points.
 *
 * Candidates come from E-divisive (Matteson & James, "A Nonparametric Approach
 * for Multiple Change Point Analysis of Multivariate Data", JASA 109, 2014) in
 * windows; a t test confirms and merges them, as in Otava (Fleming et al.,
 * "Hunter: Using Change Point Detection to Hunt for Performance Regressions",
 * ICPE 2023). Otava's t test uses a standard deviation that is too small and
 * takes drift and autocorrelation for steps; so in the default mode:
 * - The standard deviations are those of samples (n - 1).
 * - A change is dropped if a parabola through its two segments fits them as
 *   well as two means: that is a trend.
 * - Steps in one direction, or one, are dropped if a slope over them (trend.h)
 *   fits as well by the criterion of Akaike; trend.h then finds the slope.
 * - A change is kept if at most 1 % of permutations of its two segments
 *   (energy.h), of at most 100 points each, divide as well. A segment of 3 to
 *   10 points, as at the end, may have too few permutations, of blocks above
 *   all: there a t test that allows for autocorrelation (spike.h) keeps it as
 *   well, at p < .0001, which makes no more false changes.
 * - A level of fewer than 3 points is a spike. So are points far off their
 *   level (modified z > 5), by the test of outlier.h at .001, which finds up to
 *   a tenth of the level: several outliers cannot hide each other. A spike in a
 *   short series hides a step, and the step the spike: both are found if the
 *   series without the points that stand out from their neighbours has a step.
 * The cost is linear in n. The unit of the points does not matter.
 */
#ifndef CHANGEPOINT_H
#define CHANGEPOINT_H

#include <stdbool.h>
#include <stddef.h>

struct changepoint_rules {
	size_t window;    /* points of a window; >= 2 */
	double p;         /* of the t test of a change: below this */
	double magnitude; /* relative change of the mean: above this */
	bool otava;       /* exactly as Otava does */
};

#define CHANGEPOINT_WINDOW 50
#define CHANGEPOINT_P .001
#define CHANGEPOINT_MAGNITUDE .02

struct changepoint {
	size_t at;   /* the first point of the new level */
	size_t from; /* the old level is from..at-1, */
	size_t to;   /* the new one at..to-1 */
	size_t lo;   /* the change is at lo..hi: points that divide */
	size_t hi;   /* nearly as well as the best (Q >= .95 of its maximum) */
	size_t n[2]; /* points that are not missing, before and after */
	double p;    /* permutation, or of a t test if .t */
	bool t;      /* with .otava, of a spike, and of few points */
	bool spike;  /* at..to-1, fewer than 3 points, left the level from..to,
			which came back unless the series ends there */
};

enum { CHANGEPOINT_LEAST = 10 }; /* points of a series with changes */

/* Returns the number of changes in *found, in the order of .at; caller frees.
 * Fewer than CHANGEPOINT_LEAST points have no change, unless .otava. */
size_t changepoint_find(const double *v, size_t n,
    const struct changepoint_rules *, struct changepoint **found);

#endif
