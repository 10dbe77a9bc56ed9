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
serial_estimate(const struct serial *s, size_t n)
{
	double ratio = 0, runs = 0, series = 0, lo = 0, hi = MOST, length;
	size_t k = 0;

	for (size_t i = 0; i < n; i++) {
		if (!(s[i].squares > 0))
			continue;
		ratio += s[i].products / s[i].squares;
		runs += (double)s[i].runs;
		series += (double)s[i].series;
		k++;
	}
	if (!k)
		return 0;
	ratio /= (double)k;
	length = runs / series;
	/* The metrics of a run are not independent of each other. */
	if (length < 3 ||
	    ratio - 1 / sqrt(runs / (double)k) <= expect_ratio(0, length))
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
