/*
 * Finds a slow change: a level that rises or falls along a slope, between two
 * places.
 *
 * The points are fitted by least squares: level, slope, level, of which a level
 * may be missing; both ends of the slope are searched on a grid of up to 40
 * places, and then near the best of these. That is a trend if
 * - the slope is significant by Student's t, p < .001, and
 * - the logarithm of its likelihood is higher by 5 than that of the best step.
 * Both count n points as n / f, by the autocorrelation of the residuals
 * (serial.h), so that noise that wanders for a while is not a trend. Simulated:
 * in under 1 % of series of noise with an autocorrelation up to .6, in 2 % of
 * those with two steps as well, in a tenth of random walks of 60 points.
 */
#ifndef TREND_H
#define TREND_H

#include <stdbool.h>
#include <stddef.h>

enum { TREND_LEAST = 25, TREND_SPAN = 20 }; /* points: of all, of a slope */

struct trend {
	size_t first, last; /* the slope is from x[first] to x[last] */
	double begin, end;  /* the fitted values there */
	double lo, hi;      /* 95% interval of end - begin, by the profile of
			     * the likelihood over slopes and ends */
	double se, df;      /* standard error of end - begin */
	double rss;         /* the sum of squares that it leaves */
};

/* Returns false if n < TREND_LEAST, or the points are not a trend. O(n). */
bool trend_find(const double *x, size_t n, struct trend *);

/* Returns the sum of squares that a parabola leaves of n > 3 points with this
 * mean and sum of squares m2 around it. */
double trend_bend(const double *x, size_t n, double mean, double m2);

#endif
