/* Autocorrelated runs: their expected values and their estimates. */
#include "tap.h"

#include "normal.h"
#include "rng.h"
#include "serial.h"

#include <stdlib.h>

enum { REPORTS = 400, ROWS = 10 };

/* A stationary first-order autoregression with variance 1. */
static void
walk(struct rng *rng, double r, double *v, size_t n)
{
	double e = normal_draw(rng);

	for (size_t i = 0; i < n; i++) {
		v[i] = e;
		e = r * e + sqrt(1 - r * r) * normal_draw(rng);
	}
}

/* n times the variance of the mean, from all correlations. */
static double
inflation_of(double r, int n)
{
	double sum = 0;

	for (int i = 0; i < n; i++)
		for (int j = 0; j < n; j++)
			sum += pow(r, abs(i - j));
	return sum / n;
}

static void
inflations(void)
{
	bool right = true;

	for (int n = 1; n < 30; n++)
		for (double r = 0; r < .96; r += .19)
			right = right &&
			    fabs(serial_inflation(r, n) - inflation_of(r, n)) <
				1e-9;
	tap_ok(right, "the inflation is the sum over all correlations");
}

/* The mean estimate of r over reports of ROWS rows with n runs. */
static void
check_estimate(double r, size_t n, double at_least, double at_most)
{
	struct rng rng;
	double sum = 0;

	rng_seed(&rng, 3, n);
	for (int t = 0; t < REPORTS; t++) {
		struct serial s = {0};

		for (int i = 0; i < ROWS; i++) {
			double v[40];

			walk(&rng, r, v, n);
			serial_add(&s, v, n);
		}
		sum += serial_estimate(&s);
	}
	sum /= REPORTS;
	tap_ok(at_least <= sum && sum <= at_most,
	    "runs with lag-1 %g, %zu a row: the mean estimate is %.3f", r, n,
	    sum);
}

static void
bounds(void)
{
	static const double up[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
	static const double saw[] = {1, 9, 2, 8, 3, 7, 1, 9, 2, 8};
	static const double flat[] = {3, 3, 3, 3};
	struct serial s = {0};

	serial_add(&s, up, 1);
	tap_ok(s.series == 0 && serial_estimate(&s) == 0,
	    "one run has no neighbours");
	serial_add(&s, flat, 4);
	tap_ok(serial_estimate(&s) == 0, "equal runs have no autocorrelation");
	s = (struct serial){0};
	serial_add(&s, saw, 10);
	tap_ok(serial_estimate(&s) == 0,
	    "a negative autocorrelation counts as none");
	s = (struct serial){0};
	for (int i = 0; i < 10; i++)
		serial_add(&s, up, 10);
	tap_ok(serial_estimate(&s) > .9 && serial_estimate(&s) <= .95,
	    "a trend is fully autocorrelated");
}

int
main(void)
{
	inflations();
	bounds();
	check_estimate(0, 5, 0, .05);
	check_estimate(0, 20, 0, .03);
	check_estimate(.6, 5, .52, .65);
	check_estimate(.6, 20, .57, .63);
	check_estimate(.3, 7, .22, .35);
	return tap_done();
}
