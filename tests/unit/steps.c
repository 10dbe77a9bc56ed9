/*
 * The numbers of a step and of a spike in a series, by their formulas, and the
 * limit from which a point is a spike.
 */
#include "tap.h"

#include "changepoint.h"
#include "stats.h"
#include "tdist.h"

#include <stdlib.h>

static const struct changepoint_rules ours = {
    CHANGEPOINT_WINDOW, CHANGEPOINT_P, CHANGEPOINT_MAGNITUDE, false};
static const struct changepoint_rules otava = {50, .001, 0, true};

/* Student's t of the means of x[0..m-1] and of the n values after them, with
 * the variances of populations. */
static double
t_of(const double *x, size_t m, size_t n)
{
	double mean[2] = {stats_mean(x, m), stats_mean(x + m, n)};
	double sum[2] = {0, 0}, pooled = 0, k[2] = {(double)m, (double)n};

	for (size_t i = 0; i < m + n; i++)
		sum[i >= m] += pow(x[i] - mean[i >= m], 2);
	for (size_t i = 0; i < 2; i++)
		pooled += sum[i] / k[i] * (k[i] - 1);
	pooled /= k[0] + k[1] - 2;
	return fabs(mean[1] - mean[0]) / sqrt(pooled * (1 / k[0] + 1 / k[1]));
}

/* All numbers of a step after 8 of 20 points, and of a spike. */
static void
numbers(void)
{
	double v[40];
	struct changepoint *c;
	size_t n;

	for (size_t i = 0; i < 20; i++)
		v[i] = (i < 8 ? 100 : 104) + (double)(i * 7 % 5) / 2;
	n = changepoint_find(v, 20, &otava, &c);
	tap_ok(n == 1 && c->at == 8 && c->n[0] == 8 && c->n[1] == 12,
	    "Otava's settings find a step after 8 of 20 points");
	tap_near(c->p, 2 * tdist_sf(t_of(v, 8, 12), 18), 1e-9,
	    "its p is computed with the variances of populations, as in Otava");
	free(c);
	n = changepoint_find(v, 20, &ours, &c);
	tap_ok(n == 1 && c->at == 8 && c->p == .001,
	    "with our settings the smallest p is .001");
	free(c);
	for (size_t i = 0; i < 40; i++)
		v[i] = i % 2 ? 101 : 99;
	v[30] = v[31] = 120;
	v[31] = 122;
	n = changepoint_find(v, 40, &ours, &c);
	tap_ok(n == 1 && c->spike && c->at == 30 && c->to == 32 &&
		c->from == 0 && c->lo == 30 && c->hi == 30 && c->n[0] == 38 &&
		c->n[1] == 2,
	    "a spike of two points has its range and the points of both sides");
	/* The squared deviations from the means add up to 38 and 2. */
	tap_near(c->p,
	    2 * tdist_sf(21 / sqrt(40. / 38 * (1. / 38 + 1. / 2)), 38), 1e-9,
	    "its p is that of Student's t");
	free(c);
}

/* Returns whether the point at 20 is the only change, and a spike. */
static bool
is_spike(const double *v, size_t n)
{
	struct changepoint *c;
	size_t k = changepoint_find(v, n, &ours, &c);
	bool is = k == 1 && c->spike && c->at == 20 && c->to == 21;

	free(c);
	return is;
}

/* Returns the smallest value of the point at 20 that is a spike; other points
 * are not changed. */
static double
least_spike(double *v, size_t n)
{
	double lo = v[0], hi = 1000;

	for (int i = 0; i < 60; i++) {
		v[20] = (lo + hi) / 2;
		if (is_spike(v, n))
			hi = v[20];
		else
			lo = v[20];
	}
	return hi;
}

static void
spike_limits(void)
{
	double v[41];

	for (size_t i = 0; i < 41; i++)
		v[i] = i % 2 ? 101 : 99;
	/* Of 19 points of 99, 20 of 101 and this point the median is 101, and
	 * the MAD is 1. */
	tap_near(least_spike(v, 40), 101 + 5 * 1.4826, 1e-9,
	    "a spike is more than 5 standard deviations from the median, by "
	    "its MAD");
	for (size_t i = 0; i < 41; i++)
		v[i] = 100 + (i % 2 ? .01 : -.01);
	tap_near(least_spike(v, 41), 102, 1e-3,
	    "if the noise is smaller, it is more than 2 % away");
}

/* Returns how many changes a step from 100 to this level is. */
static size_t
changes_to(double level)
{
	struct changepoint *c;
	double v[40];
	size_t k;

	for (size_t i = 0; i < 40; i++)
		v[i] = i < 20 ? 100 : level;
	k = changepoint_find(v, 40, &ours, &c);
	free(c);
	return k;
}

static void
magnitudes(void)
{
	tap_ok(changes_to(101.99) == 0 && changes_to(102.01) == 1,
	    "2 %% above the old level are a change");
	tap_ok(changes_to(98.05) == 0 && changes_to(98.03) == 1,
	    "2 %% of the lower level below the old one are a change");
}

int
main(void)
{
	numbers();
	spike_limits();
	magnitudes();
	return tap_done();
}
