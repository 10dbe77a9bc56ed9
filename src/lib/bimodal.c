#include "bimodal.h"
#include "stats.h"

#include <math.h>

/* 95.7 % of 10^5 simulated samples of n values of each shape (bimodal.h) are
 * below the limit; interpolated between these n. */
static double
find_bimodality_limit(size_t n)
{
	static const struct {
		double n, limit;
	} at[] = {{10, 7.4}, {12, 6.2}, {15, 5.85}, {20, 5.27}, {30, 4.8},
	    {50, 4.4}, {100, 4.12}, {200, 3.92}, {500, 3.8}, {1000, 3.75}};
	const size_t last = sizeof at / sizeof *at - 1;
	double x = (double)n;
	size_t i = 0;

	if (x >= at[last].n)
		return at[last].limit;
	while (x >= at[i + 1].n)
		i++;
	return at[i].limit +
	    (x - at[i].n) * (at[i + 1].limit - at[i].limit) /
	    (at[i + 1].n - at[i].n);
}

/* Returns the variance that rounding to the smallest step adds. A step above
 * 2 % of the median is taken for a real difference. */
static double
estimate_rounding(const double *v, size_t n)
{
	double step = .02 * fabs(stats_median(v, n));
	bool ties = false;

	for (size_t i = 1; i < n; i++) {
		double d = v[i] - v[i - 1];

		ties = ties || d == 0;
		if (d > 0 && d < step)
			step = d;
	}
	return ties ? step * step / 12 : 0;
}

bool
bimodal_detect(const double *v, size_t n)
{
	size_t least = (n + 4) / 5;
	double sum = 0, squares = 0, low = 0, own = 0, best = 0, added, limit;

	if (n < 10 || v[0] == v[n - 1])
		return false;
	added = estimate_rounding(v, n);
	limit = find_bimodality_limit(n);
	for (size_t i = 0; i < n; i++) {
		double d = v[i] - v[0];

		sum += d;
		squares += d * d;
	}
	for (size_t i = 1; i + least <= n; i++) {
		double a, b, within, d = v[i - 1] - v[0];

		low += d;
		own += d * d;
		if (i < least)
			continue;
		a = low / (double)i;
		b = (sum - low) / (double)(n - i);
		within = own - low * a + (squares - own) - (sum - low) * b;
		within = fmax(within, 0) / (double)(n - 2) + added;
		best = fmax(best, (b - a) * (b - a) / within);
	}
	return best > limit * limit;
}
