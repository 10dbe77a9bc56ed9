/* The power of a t test by its definition, for tests. */
#ifndef SLOWPOWER_H
#define SLOWPOWER_H

#include "tdist.h"

#include <math.h>
#include <stdbool.h>

/* How surely a two-sided t test of n a side, or n pairs, finds a shift of d
 * standard deviations. */
static double
power_of(double n, double d, bool paired, double alpha)
{
	double df = paired ? n - 1 : 2 * n - 2;
	double ncp = d * (paired ? sqrt(n) : sqrt(n / 2));
	double t = tdist_quantile(1 - alpha / 2, df);

	return 1 - tdist_noncentral_cdf(t, df, ncp) +
	    tdist_noncentral_cdf(-t, df, ncp);
}

#endif
