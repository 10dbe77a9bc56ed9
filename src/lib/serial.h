/*
 * Consecutive runs are autocorrelated: a first-order autoregression, whose
 * lag-1 correlation r is estimated from all series of a report together.
 *
 * Sources: the variance of a mean, sigma^2 f / n with f = 1 + 2 sum_k (1 - k/n)
 * r^k, Bayley & Hammersley, J. R. Stat. Soc. Suppl. 8 (1946); the t test with
 * n / f for n, Zwiers & von Storch, J. Climate 8 (1995). The sum of products of
 * neighbours over the sum of squares, both around the mean of each series, is
 * biased for short series; its expectation is exact here, and r is the one that
 * expects the ratio that was observed.
 */
#ifndef SERIAL_H
#define SERIAL_H

#include <stddef.h>

/* Returns f of n runs, which need not be whole. 0 <= r < 1. */
double serial_inflation(double r, double n);

/*
 * Returns r of n residuals whose sum of products of neighbours is 'ratio' times
 * that of squares. It is too small by (1 + 4 r) / n (Kendall, Biometrika 41,
 * 1954), which is added; below 0 it counts as 0, above .95 as .95.
 */
double serial_correct(double ratio, size_t n);

/* What the series of one metric add up to; zeroed at first. */
struct serial {
	double products, squares;
	size_t runs, series;
};

/* Adds n values in the order of time, as logarithms: the series of the metric
 * then weigh as their relative noise. */
void serial_add(struct serial *, const double *v, size_t n);

/* Returns r; 0 if it is within one standard error of independent runs. */
double serial_estimate(const struct serial *);

#endif
