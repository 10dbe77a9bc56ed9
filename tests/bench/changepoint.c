/*
 * changepoint: what the change points are worth, in simulated series: false
 * changes in noise, how soon a step is found, in short series as well, and
 * which series are trends; and the CPU time for 100 series of 10,000 points,
 * against the goal. Tests nothing.
 * changepoint [SERIES]: of each kind of series; the default is 400.
 */
#include "changepoint.h"
#include "mem.h"
#include "../unit/normal.h"
#include "rng.h"
#include "trend.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { SERIES = 100, POINTS = 10000 };
#define GOAL 2. /* CPU seconds */
#define NOISE 1.

static size_t series = 400;

/* Without a margin: it hides what the tests do. */
static const struct changepoint_rules ours = {
    CHANGEPOINT_WINDOW, CHANGEPOINT_P, 0, false};

/* Sets v to 100 and noise, with lag-1 autocorrelation 'ar'. */
static void
make_noise(double *v, size_t n, double ar, struct rng *r)
{
	double e = normal_draw(r);

	for (size_t i = 0; i < n; i++) {
		v[i] = 100 + NOISE * e;
		e = ar * e + sqrt(1 - ar * ar) * normal_draw(r);
	}
}

/* Returns the changes that are not spikes; *hit: one is within 2 of 'at'. */
static size_t
count_changes(const double *v, size_t n, size_t at, bool *hit)
{
	struct changepoint *c;
	size_t k = changepoint_find(v, n, &ours, &c), steps = 0;

	*hit = false;
	for (size_t i = 0; i < k; i++) {
		steps += !c[i].spike;
		if (!c[i].spike && c[i].at + 2 >= at && c[i].at <= at + 2)
			*hit = true;
	}
	free(c);
	return steps;
}

static const double ars[] = {0, .3, .6};
enum { ARS = sizeof ars / sizeof *ars };

static void
print_false_changes(void)
{
	static const size_t lengths[] = {12, 20, 40, 60, 120, 300};
	double v[300];

	printf("\nFalse changes for each series of noise\n%-10s", "points");
	for (size_t a = 0; a < ARS; a++)
		printf("   AR %-4g", ars[a]);
	printf("\n");
	for (size_t l = 0; l < sizeof lengths / sizeof *lengths; l++) {
		printf("%-10zu", lengths[l]);
		for (size_t a = 0; a < ARS; a++) {
			struct rng r;
			size_t sum = 0;
			bool hit;

			rng_seed(&r, 2, 10 * l + a);
			for (size_t i = 0; i < series; i++) {
				make_noise(v, lengths[l], ars[a], &r);
				sum += count_changes(v, lengths[l], 0, &hit);
			}
			printf(" %8.3f", (double)sum / (double)series);
		}
		printf("\n");
	}
}

/* The series has 60 to 120 points. */
static double
measure_delay(double sigmas, size_t after, double ar)
{
	struct rng r;
	double v[120];
	size_t hits = 0;

	rng_seed(&r, 3, after);
	for (size_t i = 0; i < series; i++) {
		size_t n = 60 + rng_below(&r, 61);
		bool hit;

		make_noise(v, n, ar, &r);
		for (size_t k = n - after; k < n; k++)
			v[k] -= sigmas * NOISE;
		count_changes(v, n, n - after, &hit);
		hits += hit;
	}
	return (double)hits / (double)series;
}

static void
print_delays(void)
{
	static const double sigmas[] = {2, 3, 5};

	printf("\nSteps found, by the points after them (series of 60 to 120 "
	       "points)\n%-12s",
	    "");
	for (size_t k = 1; k <= 10; k++)
		printf(" %5zu", k);
	printf("\n");
	for (size_t a = 0; a < ARS; a++)
		for (size_t s = 0; s < 3; s++) {
			printf("%g sd, AR %-3g", sigmas[s], ars[a]);
			for (size_t k = 1; k <= 10; k++)
				printf(" %4.0f%%",
				    100 * measure_delay(sigmas[s], k, ars[a]));
			printf("\n");
		}
}

/* A step of a short series, each side with 4 points at least. */
static double
measure_short(size_t n, double sigmas, bool spike, double ar)
{
	struct rng r;
	double v[16];
	size_t hits = 0;

	rng_seed(&r, 4, n);
	for (size_t i = 0; i < series; i++) {
		size_t at = 4 + rng_below(&r, n - 7);
		bool hit;

		make_noise(v, n, ar, &r);
		for (size_t k = at; k < n; k++)
			v[k] -= sigmas * NOISE;
		if (spike) /* not beside the step */
			v[1 + rng_below(&r, at - 2)] -= 20;
		count_changes(v, n, at, &hit);
		hits += hit;
	}
	return (double)hits / (double)series;
}

static void
print_short_series(void)
{
	printf("\nSteps found in short series, without and with a spike\n%-12s",
	    "points");
	for (size_t n = 10; n <= 15; n++)
		printf(" %11zu", n);
	printf("\n");
	for (size_t a = 0; a < ARS; a++)
		for (size_t s = 5; s <= 10; s += 5) {
			printf("%zu sd, AR %-3g", s, ars[a]);
			for (size_t n = 10; n <= 15; n++)
				printf("  %4.0f%% %4.0f%%",
				    100 * measure_short(n, s, false, ars[a]),
				    100 * measure_short(n, s, true, ars[a]));
			printf("\n");
		}
}

/* --- trends */

struct slope {
	const char *what;
	size_t points, first, last;
	double all;
};

static void
measure_slope(const struct slope *l, double ar)
{
	const struct changepoint_rules rules = {
	    CHANGEPOINT_WINDOW, CHANGEPOINT_P, CHANGEPOINT_MAGNITUDE, false};
	size_t trends = 0, steps = 0;
	double v[160];
	struct rng r;

	rng_seed(&r, 5, l->points);
	for (size_t i = 0; i < series; i++) {
		struct changepoint *c;
		struct trend t;
		double walk = 0;

		make_noise(v, l->points, ar, &r);
		for (size_t k = 0; k < l->points; k++) {
			double at = fmax(0, (double)k - (double)l->first);

			walk += l->last ? 0 : normal_draw(&r);
			v[k] += walk;
			if (l->last)
				v[k] -= l->all *
				    fmin(1, at / (double)(l->last - l->first));
		}
		trends += trend_find(v, l->points, &t);
		steps += changepoint_find(v, l->points, &rules, &c) > 0;
		free(c);
	}
	printf("  %3.0f%% %3.0f%%", 100 * (double)trends / (double)series,
	    100 * (double)steps / (double)series);
}

static void
print_trends(void)
{
	static const struct slope slopes[] = {{"noise, 60", 60, 0, 59, 0},
	    {"noise, 120", 120, 0, 119, 0}, {"9 sd in 60 of 60", 60, 0, 59, 9},
	    {"4 sd in 60 of 60", 60, 0, 59, 4},
	    {"9 sd in the last 60 of 120", 120, 60, 119, 9},
	    {"9 sd in 30 of 150", 150, 60, 90, 9},
	    {"step of 3 sd, 60", 60, 29, 30, 3},
	    {"step of 5 sd, 120", 120, 59, 60, 5},
	    {"random walk, 60", 60, 0, 0, 0},
	    {"random walk, 120", 120, 0, 0, 0}};

	printf("\nSeries that are a trend, and with steps\n%-28s", "");
	for (size_t a = 0; a < ARS; a++)
		printf("   AR %-5g", ars[a]);
	printf("\n");
	for (size_t i = 0; i < sizeof slopes / sizeof *slopes; i++) {
		printf("%-28s", slopes[i].what);
		for (size_t a = 0; a < ARS; a++)
			measure_slope(&slopes[i], ars[a]);
		printf("\n");
	}
}

/* --- CPU time */

static void
make_history(double *v, struct rng *r)
{
	double level = 1000;

	for (size_t i = 0; i < POINTS; i++) {
		if (i % 2000 == 1000)
			level *= rng_below(r, 2) ? 1.05 : 1 / 1.05;
		v[i] = level + 10 * normal_draw(r);
	}
}

static void
measure_time(const char *what, bool otava)
{
	const struct changepoint_rules rules = {CHANGEPOINT_WINDOW,
	    CHANGEPOINT_P, otava ? 0 : CHANGEPOINT_MAGNITUDE, otava};
	double *v = mem_array(POINTS, sizeof *v), s = 0;
	struct rng r;
	size_t found = 0;

	rng_seed(&r, 1, 0);
	for (size_t i = 0; i < SERIES; i++) {
		struct changepoint *c;
		clock_t start;

		make_history(v, &r);
		start = clock();
		found += changepoint_find(v, POINTS, &rules, &c);
		s += (double)(clock() - start) / CLOCKS_PER_SEC;
		free(c);
	}
	printf("%-14s %5.2f CPU s for %d series of %d points, %zu changes "
	       "(goal: %g s)\n",
	    what, s, SERIES, POINTS, found, GOAL);
	free(v);
}

int
main(int argc, char **argv)
{
	if (argc > 1)
		series = (size_t)strtoul(argv[1], NULL, 10);
	measure_time("vkb-detect", false);
	measure_time("as Otava", true);
	print_false_changes();
	print_delays();
	print_short_series();
	print_trends();
	return 0;
}
