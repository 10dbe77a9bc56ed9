#include "serial.h"
#include "stats.h"

#include <math.h>

#define MOST .95

double
serial_inflation(double r, double n)
{
	return (1 + r) / (1 - r) -
	    2 * r * (1 - pow(r, n)) / (n * (1 - r) * (1 - r));
}

double
serial_correct(double ratio, size_t n)
{
	double more = (1 + 4 * fmax(0, ratio)) / (double)n;

	return fmin(MOST, fmax(0, ratio + more));
}

void
serial_add(struct serial *s, const double *v, size_t n)
{
	double mean = stats_mean(v, n);

	if (n < 2)
		return;
	for (size_t i = 0; i < n; i++) {
		double d = v[i] - mean;

		s->squares += d * d;
		if (i)
			s->products += d * (v[i - 1] - mean);
	}
	s->runs += n;
	s->series++;
}

/*
 * The expected sum of products over that of squares, of n values around their
 * mean: the covariance with the mean is f / n on average, and that of the first
 * and the last value (1 - r^n) / (n (1 - r)).
 */
static double
expect_ratio(double r, double n)
{
	double f = serial_inflation(r, n), end = (1 - pow(r, n)) / n / (1 - r);

	return ((n - 1) * (r + f / n) - 2 * f + 2 * end) / (n - f);
}

double
serial_estimate(const struct serial *s)
{
	double lo = 0, hi = MOST, ratio = s->products / s->squares;
	double runs = (double)s->runs, length = runs / (double)s->series;

	if (!(s->squares > 0) || length < 3 ||
	    ratio - 1 / sqrt(runs) <= expect_ratio(0, length))
		return 0;
	while (hi - lo > 1e-9) {
		double mid = (lo + hi) / 2;

		if (expect_ratio(mid, length) < ratio)
			lo = mid;
		else
			hi = mid;
	}
	return lo;
}
