/* The power of a t test by its definition, for tests. */
#ifndef SLOWPOWER_H
#define SLOWPOWER_H

#include "tdist.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>

/* P(T <= t) where T is noncentral: the normal distribution over the density of
 * log(chi / sqrt(df)), by the trapezoidal rule, which is nearly exact. */
static double
noncentral_cdf(double t, double df, double ncp)
{
	double a = df / 2, sd = 1 / sqrt(2 * df), lo = -10 * sd - 40 / df;
	double step = fmin(sd, 1 / (1 + fabs(t))) / 4, sum = 0, u;

	for (size_t i = 0; (u = lo + (double)i * step) < 10 * sd; i++)
		sum += tdist_normal_cdf(t * exp(u) - ncp) *
		    exp(-a * (expm1(2 * u) - 2 * u));
	return sum * step * 2 * exp(a * log(a) - a - lgamma(a));
}

/* How surely a two-sided t test of n a side, or n pairs, finds a shift of d
 * standard deviations. */
static double
power_of(double n, double d, bool paired, double alpha)
{
	double df = paired ? n - 1 : 2 * n - 2;
	double ncp = d * (paired ? sqrt(n) : sqrt(n / 2));
	double t = tdist_quantile(1 - alpha / 2, df);

	return 1 - noncentral_cdf(t, df, ncp) + noncentral_cdf(-t, df, ncp);
}

#endif
