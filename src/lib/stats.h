/*
 * Statistics of one sample, and the parametric comparison of two. Each value
 * is one independent run. Arguments called 'sorted' are ascending.
 */
#ifndef STATS_H
#define STATS_H

#include <stddef.h>

void stats_sort(double *v, size_t n);
double *stats_sorted(const double *v, size_t n); /* a copy; caller frees */

/* Returns the indexes of the values in ascending order, equal values in the
 * order of 'v'. Caller frees. */
size_t *stats_order(const double *v, size_t n);

/*
 * The k-th smallest (k < n, from 0), and the median, in linear time (Hoare
 * 1961). Both reorder 'v'; after stats_select no value before v[k] is larger
 * than it, and none behind it is smaller.
 */
double stats_select(double *v, size_t n, size_t k);
double stats_middle(double *v, size_t n); /* NAN when n = 0 */

double stats_mean(const double *v, size_t n); /* NAN when n = 0 */
double stats_sd(const double *v, size_t n);   /* n - 1; NAN when n < 2 */

/* Returns the sum of (v - mean)^2, exactly 0 for equal values. n >= 1. */
double stats_squares(const double *v, size_t n, double *mean);

double stats_median(const double *sorted, size_t n); /* NAN when n = 0 */
/* Type 7 of Hyndman & Fan (1996), the default of R; 0 <= q <= 1. */
double stats_quantile(const double *sorted, size_t n, double q);
/* Median of |x - median|, not scaled. */
double stats_mad(const double *sorted, size_t n);

/*
 * Interval of the median by order statistics (e.g. Conover, Practical
 * Nonparametric Statistics, 3.2): from the l-th to the (n + 1 - l)-th value.
 * Returns the largest l, from 1, that covers at least 'want', or 0 if n is too
 * small (below 6 for .95). *conf, unless NULL, is the actual coverage.
 */
size_t stats_median_ci(size_t n, double want, double *conf);

/*
 * The interval of the centre by the best method for the sample size. "order" is
 * stats_median_ci; "t", for smaller samples, is Student's interval, mean +-
 * t(n - 1) sd / sqrt(n), or, if all values are above 0, that of the geometric
 * mean by logarithms; it assumes normal (or lognormal) noise. Returns the name
 * of the method, or NULL if n < 3. The rule, zeroed at first, caches what
 * depends on n and 'want' only.
 */
struct stats_rule {
	size_t n;
	double want;
	size_t l; /* 0: by t */
	double t;
};
const char *stats_ci(struct stats_rule *, const double *sorted, size_t n,
    double want, double *lo, double *hi);

/*
 * Modified z of Iglewicz & Hoaglin (1993), |x - median| / (1.4826 MAD);
 * INFINITY for a value off the median where the MAD is 0.
 */
double stats_modified_z(double x, double median, double mad);

/* Lag-1 autocorrelation in the order given; NAN when n < 4 or all are equal. */
double stats_lag1(const double *v, size_t n);

/* Welch's t test of mean(y) - mean(x), and the interval of that difference. */
struct stats_welch {
	double diff, se, t, df, p, lo, hi;
};

/* m, n >= 2. se = 0 (both constant) gives p = 1 or 0: an exact comparison. */
struct stats_welch stats_welch(
    const double *x, size_t m, const double *y, size_t n, double conf);

/* Geometric mean of ratios > 0; NAN: there are none. */
double stats_geomean(const double *v, size_t n);

#endif
