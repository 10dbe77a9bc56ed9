/*
 * The interval of a ratio of medians, and of the geometric mean of several, by
 * resampling: bias-corrected and accelerated (BCa).
 *
 * Sources: Efron, "Better Bootstrap Confidence Intervals", JASA 82 (1987);
 * acceleration of two samples after Efron & Tibshirani, An Introduction to the
 * Bootstrap, 14.3 and 22: L_i = (mean(J) - J_i)(n - 1) / n of the jackknife
 * values J of each side, a = sum L^3 / (6 (sum L^2)^1.5). Ends are type 7
 * quantiles of the resampled ratios.
 */
#ifndef BOOTSTRAP_H
#define BOOTSTRAP_H

#include <stdbool.h>
#include <stddef.h>

enum { BOOTSTRAP_LEAST = 5, BOOTSTRAP_DRAWS = 9999 };

struct bootstrap {
	double est; /* the geometric mean of median(y) / median(x) */
	double lo, hi;
	double z0; /* correction of bias, in standard deviations */
	double a;  /* acceleration */
};

struct bootstrap_pair {
	const double *x, *y;
	size_t m, n;
	bool paired; /* m = n; x[i] and y[i] are drawn together */
};

/*
 * Computes the geometric mean of k ratios of medians and its interval; conf .95
 * covers 95 %. The runs of each side of each case are resampled BOOTSTRAP_DRAWS
 * times. The seed is FNV-1a of the name and the data, so that equal input gives
 * equal output. The interval holds for these cases, not for others. Returns 0;
 * or -1 with all NAN if k is 0, or a side has fewer than BOOTSTRAP_LEAST values
 * or one that is not finite and above 0.
 */
int bootstrap_geomean(const char *name, const struct bootstrap_pair *, size_t k,
    double conf, struct bootstrap *);

#endif
