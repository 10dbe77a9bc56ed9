#include "power.h"
#include "stats.h"
#include "tdist.h"

#include <math.h>
#include <stdint.h>

#define EFFICIENCY .955 /* of the rank tests against t on normal noise */

/* Computes the other tail, at most .025, only if it can change the result. */
static bool
has_enough_power(size_t n, double d, bool paired)
{
	double m = EFFICIENCY * (double)n, df = paired ? m - 1 : 2 * m - 2;
	double t = tdist_quantile(.975, df);
	double ncp = fabs(d) * sqrt(paired ? m : m / 2);
	double power = 1 - tdist_noncentral_cdf(t, df, ncp);

	if (power < .8 && power > .775)
		power += tdist_noncentral_cdf(-t, df, ncp);
	return power >= .8;
}

size_t
power_runs(double cv, double effect, bool paired)
{
	size_t n, least = paired ? POWER_PAIRS : POWER_RUNS;
	double d = log1p(effect) / cv, z, about;

	z = tdist_normal_quantile(.975) + tdist_normal_quantile(.8);
	about = (paired ? z * z / (d * d) + 2 : 2 * z * z / (d * d) + 1) /
	    EFFICIENCY;
	if (!(cv > 0) || !(about < 1e6))
		return 0;
	n = (size_t)fmax(about, (double)least);
	/* The normal approximation is off by a few runs at most. */
	while (n > least && has_enough_power(n - 1, d, paired))
		n--;
	while (!has_enough_power(n, d, paired))
		n++;
	return n < 1000000 ? n : 0;
}

double
power_visible(double cv, size_t m, size_t n, bool paired)
{
	double least = EFFICIENCY * (double)(m < n ? m : n), d;
	double df = paired ? (double)n - 1 : (double)(m + n) - 2;

	if (!(cv > 0) || df < 1)
		return NAN;
	d = tdist_quantile(.975, df) + tdist_quantile(.8, df);
	return -expm1(-d * sqrt((paired ? 1 : 2) / least) * cv);
}

size_t
power_least_runs(bool paired, size_t tests, double alpha)
{
	double p, level = alpha / (double)(tests ? tests : 1);

	for (size_t n = paired ? POWER_PAIRS : POWER_RUNS; level > 0; n++) {
		p = paired ? ldexp(2, -(int)n)
			   : 2 *
			exp(2 * lgamma((double)n + 1) -
			    lgamma(2 * (double)n + 1));
		if (p <= level)
			return n;
	}
	return SIZE_MAX;
}

/*
 * The expected half width of the interval that stats_ci gives for n values of
 * normal noise, in standard deviations: normal scores (Blom 1958), or t where
 * there are too few for order statistics. INFINITY for n < 3.
 */
static double
estimate_half_width(size_t n, double conf)
{
	size_t l = stats_median_ci(n, conf, NULL);

	if (l)
		return -tdist_normal_quantile(
		    ((double)l - .375) / ((double)n + .25));
	if (n < 3)
		return INFINITY;
	return tdist_quantile((1 + conf) / 2, (double)(n - 1)) /
	    sqrt((double)n);
}

size_t
power_more_runs(double now, double wanted, size_t n, double conf)
{
	double z = tdist_normal_quantile((1 + conf) / 2), far, goal;
	size_t to;

	if (now <= wanted)
		return 0;
	if (n < 3)
		return 3 - n;
	goal = estimate_half_width(n, conf) * wanted / now;
	far = M_PI / 2 * (z / goal) * (z / goal); /* variance of the median */
	if (!(far < 1e9))
		return SIZE_MAX;
	to = far * .8 > (double)n ? (size_t)(far * .8) : n + 1;
	while (far < 1000 && estimate_half_width(to, conf) > goal)
		to++;
	return (far < 1000 ? to : (size_t)fmax(far, (double)n + 1)) - n;
}
