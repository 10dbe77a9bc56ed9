/*
 * Where does a series change its level? Points in order, one for each commit;
 * NAN and infinities are missing points.
 *
 * Candidates: E-divisive (Matteson & James, "A Nonparametric Approach for
 * Multiple Change Point Analysis of Multivariate Data", JASA 109, 2014) in
 * windows, held against a t test and merged, as Otava does it (Fleming et al.,
 * "Hunter: Using Change Point Detection to Hunt for Performance Regressions",
 * ICPE 2023). Otava's t test knows a standard deviation that is too small and
 * takes drift and autocorrelation for steps; so in the default mode
 *  - the standard deviations are those of samples (n - 1);
 *  - a point goes while a parabola through its two segments leaves no more
 *    than two means do: that is a trend;
 *  - a point stays where chance divides as well in no more than 1 % of
 *    permutations of its two segments (energy.h), of 100 points each at most;
 *  - a level of fewer than 3 points is a spike, and so are points far off
 *    their level (modified z > 5), by the test of outlier.h at .001, which
 *    takes up to a tenth of the level: several do not hide each other.
 * The cost is linear in n. Same points, same answer, whatever their unit.
 */
#ifndef CHANGEPOINT_H
#define CHANGEPOINT_H

#include <stdbool.h>
#include <stddef.h>

struct changepoint_rules {
	size_t window;    /* points that are looked at together; >= 2 */
	double p;         /* of the t test: below this */
	double magnitude; /* relative change of the mean: above this */
	bool otava;       /* exactly as Otava: nothing of ours */
};

#define CHANGEPOINT_WINDOW 50
#define CHANGEPOINT_P .001
#define CHANGEPOINT_MAGNITUDE .02

struct changepoint {
	size_t at;   /* the first point of the new level */
	size_t from; /* the old level is from..at-1, */
	size_t to;   /* the new one at..to-1 */
	size_t lo;   /* the change is at lo..hi: what divides nearly as */
	size_t hi;   /* well as the best (Q >= .95 of its maximum) */
	size_t n[2]; /* points that are not missing, before and after */
	double mean[2];
	double sd[2]; /* of the population with .otava; NAN: one point */
	double p;     /* permutation; with .otava, and of a spike, t */
	bool spike;   /* at..to-1 left the level from..to, fewer than 3 points;
		       * it went away, unless there is nothing behind it */
};

enum {
	CHANGEPOINT_LEVEL = 3, /* points that make a level */
	CHANGEPOINT_LEAST = 10 /* of fewer, chance divides any as well */
};

/*
 * How many, in the order of .at; *found is freed with free(). Short of
 * CHANGEPOINT_LEAST points there is no change, unless .otava.
 */
size_t changepoint_find(const double *v, size_t n,
    const struct changepoint_rules *, struct changepoint **found);

#endif
