#include "power.h"
#include "stats.h"
#include "tdist.h"

#include <math.h>
#include <stdint.h>

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
