/*
 * changepoint: CPU time to find the changes of 100 series of 10,000 points,
 * five steps of 5 % in noise of 1 %, against the goal. Tests nothing.
 */
#include "changepoint.h"
#include "mem.h"
#include "rng.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { SERIES = 100, POINTS = 10000 };
#define GOAL 2. /* CPU seconds */

static void
series(double *v, struct rng *r)
{
	double level = 1000;

	for (size_t i = 0; i < POINTS; i++) {
		if (i % 2000 == 1000)
			level *= rng_below(r, 2) ? 1.05 : 1 / 1.05;
		v[i] = level +
		    10 * sqrt(2 * rng_exponential(r)) *
			cos(2 * M_PI * rng_unit(r));
	}
}

static void
measure(const char *what, bool otava)
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

		series(v, &r);
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
main(void)
{
	measure("vkb-detect", false);
	measure("--compat otava", true);
	return 0;
}
