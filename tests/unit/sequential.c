/* Sequential looks: the levels, and that they keep the error rate. */
#include "tap.h"

#include "rng.h"
#include "sequential.h"
#include "stats.h"

#include <stdlib.h>

/* Two-sided z of a level. */
static double
z_of(double level)
{
	double lo = 0, hi = 40;

	for (int i = 0; i < 80; i++) {
		double mid = (lo + hi) / 2;

		if (erfc(mid / sqrt(2)) > level)
			lo = mid;
		else
			hi = mid;
	}
	return lo;
}

/*
 * Bounds of the Pocock-like function, alpha .05 two-sided, equal parts, as in
 * Lan & DeMets (1983) and Reboussin et al., Controlled Clinical Trials 21
 * (2000).
 */
static void
published(void)
{
	static const double bound[][5] = {{1.960}, {2.157, 2.201},
	    {2.279, 2.295, 2.296}, {2.368, 2.368, 2.358, 2.350},
	    {2.438, 2.427, 2.410, 2.397, 2.386}};
	double t[5], level[5];

	for (size_t k = 1; k <= 5; k++) {
		bool good = true;

		for (size_t i = 0; i < k; i++)
			t[i] = (double)(i + 1) / (double)k;
		sequential_levels(t, k, .05, level);
		for (size_t i = 0; i < k; i++)
			good &= fabs(z_of(level[i]) - bound[k - 1][i]) < 6e-4;
		tap_ok(good, "%zu equal parts: the published bounds", k);
	}
}

static void
edges(void)
{
	double t[] = {.3, .3, .300001, 1}, two[] = {.3, 1}, level[4], other[2];
	double none[] = {-1, 0, .5, 1}, half[] = {.5, 1};

	sequential_levels(&(double){7}, 1, .05, level);
	tap_near(level[0], .05, 1e-12,
	    "a look after the end spends all of alpha, not more");
	sequential_levels(t, 0, .05, level);
	sequential_levels(two + 1, 1, .01, level);
	tap_near(level[0], .01, 1e-12, "a single look has all of alpha");
	sequential_levels(two, 2, .05, other);
	tap_near(level[0] * 5, .05, 1e-12,
	    "looks have levels for other values of alpha, too");
	sequential_levels(t, 4, .05, level);
	tap_ok(level[0] == other[0] && level[1] == other[0] &&
		level[2] == other[0],
	    "looks at the same time have the same level");
	tap_near(
	    level[3], other[1], 1e-4, "such looks do not reduce later levels");
	sequential_levels(none, 4, .05, level);
	sequential_levels(half, 2, .05, other);
	tap_ok(level[0] == 0 && level[1] == 0 && level[2] == other[0] &&
		level[3] == other[1],
	    "a look without runs has the level 0");
	sequential_levels(half, 2, 1e-12, level);
	tap_ok(level[0] > 0 && level[0] < 1e-12 && level[1] > 0 &&
		level[1] < 1e-12,
	    "a very small alpha");
	sequential_levels(half, 2, .9, level);
	tap_ok(level[0] < .9 && level[1] < .9 && level[0] + level[1] > .9,
	    "a large alpha");
}

/* Paths with many looks at unequal distances leave the bounds with probability
 * alpha. */
static void
integrates(void)
{
	enum { LOOKS = 20, PATHS = 40000 };
	double t[LOOKS], level[LOOKS], bound[LOOKS];
	struct rng r;
	int out = 0;

	for (int i = 0; i < LOOKS; i++)
		t[i] = (i + 1) * (i + 2) / (double)(LOOKS * (LOOKS + 1));
	sequential_levels(t, LOOKS, .05, level);
	for (int i = 0; i < LOOKS; i++)
		bound[i] = z_of(level[i]) * sqrt(t[i]);
	rng_seed(&r, 1, 0);
	for (int k = 0; k < PATHS; k++) {
		double x = 0, was = 0;

		for (int i = 0; i < LOOKS; was = t[i++]) {
			x += sqrt(2 * rng_exponential(&r) * (t[i] - was)) *
			    cos(2 * M_PI * rng_unit(&r));
			if (fabs(x) > bound[i]) {
				out++;
				break;
			}
		}
	}
	/* The standard deviation of the count is 44. */
	tap_ok(abs(out - PATHS / 20) < 110,
	    "of %d paths with %d looks 5 %% leave the bounds: %d", PATHS, LOOKS,
	    out);
}

static void
schedule(void)
{
	static const double want[] = {5, 7, 10, 15, 21, 30};
	double v[SEQUENTIAL_LOOKS];
	size_t n = sequential_looks(5, 30, v);
	bool good = n == 6;

	for (size_t i = 0; i < n && good; i++)
		good = v[i] == want[i];
	tap_ok(good, "5..30: 5 7 10 15 21 30");
	n = sequential_looks(7, 7, v);
	tap_ok(n == 1 && v[0] == 7, "7..7: one look");
	n = sequential_looks(1, 2, v);
	tap_ok(n == 2 && v[0] == 1 && v[1] == 2, "1..2: two");
	n = sequential_looks(1, 1000000, v);
	good = n <= SEQUENTIAL_LOOKS && v[0] == 1 && v[n - 1] == 1e6;
	for (size_t i = 1; i < n; i++)
		good &= v[i] > v[i - 1] && v[i] < v[i - 1] * 1.5 + 1;
	tap_ok(good,
	    "1..1000000: %zu looks, each at most half more than the one before",
	    n);
}

static double
normal(struct rng *r)
{
	return sqrt(2 * rng_exponential(r)) * cos(2 * M_PI * rng_unit(r));
}

/* Returns how many sessions of two equal sides stop because Welch's t test
 * finds a difference. */
static int
alarms(double level_at_all, int times)
{
	double looks[SEQUENTIAL_LOOKS], x[30], y[30];
	size_t k = sequential_looks(5, 30, looks);
	double part[SEQUENTIAL_LOOKS], level[SEQUENTIAL_LOOKS];
	struct rng r;
	int found = 0;

	for (size_t i = 0; i < k; i++)
		part[i] = looks[i] / looks[k - 1];
	sequential_levels(part, k, .05, level);
	for (size_t i = 0; i < k && level_at_all > 0; i++)
		level[i] = level_at_all;
	rng_seed(&r, 2, 0);
	for (int i = 0; i < times; i++) {
		bool alarm = false;

		for (int j = 0; j < 30; j++) {
			x[j] = normal(&r);
			y[j] = normal(&r);
		}
		for (size_t j = 0; j < k && !alarm; j++) {
			size_t n = (size_t)looks[j];

			alarm = stats_welch(x, n, y, n, .95).p < level[j];
		}
		found += alarm;
	}
	return found;
}

int
main(void)
{
	int n;

	published();
	edges();
	integrates();
	schedule();
	/* The expected value is 100 of 2000, with a standard deviation of
	 * 10. */
	n = alarms(0, 2000);
	tap_ok(n <= 120 && n > 20,
	    "a t test at six looks: %d of 2000 sessions alarm", n);
	n = alarms(.05, 2000);
	tap_ok(n > 160, "at .05 for each look too many alarm: %d of 2000", n);
	return tap_done();
}
