/*
 * Trends: slopes are found, with their ends and their size. Steps, wandering
 * noise and short series are not trends.
 */
#include "tap.h"

#include "changepoint.h"
#include "normal.h"
#include "rng.h"
#include "trend.h"

#include <stdlib.h>

enum { POINTS = 120, SERIES = 100 };

/* Sets v to 100, falling by 'all' from first to last, with noise of 1. */
static void
make_slope(double *v, size_t n, double first, double last, double all,
    double ar, struct rng *r)
{
	double e = normal_draw(r);

	for (size_t i = 0; i < n; i++) {
		double part = ((double)i - first) / (last - first);

		v[i] = 100 - all * fmin(1, fmax(0, part)) + e;
		e = ar * e + sqrt(1 - ar * ar) * normal_draw(r);
	}
}

/* Shares of series with a trend, with a step, and with an interval that
 * contains the true slope. */
struct shares {
	double trends, steps, covered;
	double first, last; /* on average */
};

static struct shares
simulate(size_t n, double first, double last, double all, double ar)
{
	static const struct changepoint_rules rules = {
	    CHANGEPOINT_WINDOW, CHANGEPOINT_P, CHANGEPOINT_MAGNITUDE, false};
	struct shares s = {0};
	double v[POINTS];
	struct rng r;

	rng_seed(&r, 6, n);
	for (size_t i = 0; i < SERIES; i++) {
		struct changepoint *c;
		struct trend t;

		make_slope(v, n, first, last, all, ar, &r);
		s.steps += changepoint_find(v, n, &rules, &c) > 0;
		free(c);
		if (!trend_find(v, n, &t))
			continue;
		s.trends++;
		s.covered += t.lo <= -all && -all <= t.hi;
		s.first += (double)t.first;
		s.last += (double)t.last;
	}
	s.covered /= s.trends;
	s.first /= s.trends;
	s.last /= s.trends;
	s.trends /= SERIES;
	s.steps /= SERIES;
	return s;
}

static void
simulated(void)
{
	struct shares s = simulate(60, 0, 59, 9, 0);

	tap_ok(s.trends >= .98 && s.steps <= .05,
	    "9 sd over 60 points are a trend: %g, steps %g", s.trends, s.steps);
	tap_ok(s.covered >= .85,
	    "the interval of the change contains the true value: %g",
	    s.covered);
	s = simulate(60, 0, 59, 9, .3);
	tap_ok(s.trends >= .9 && s.steps <= .1, "with AR 0.3: %g, steps %g",
	    s.trends, s.steps);
	s = simulate(120, 60, 119, 9, .3);
	tap_ok(s.trends >= .95 && s.steps <= .06,
	    "a slope after 60 points at one level: %g, steps %g", s.trends,
	    s.steps);
	tap_ok(fabs(s.first - 60) < 4 && s.last > 112,
	    "its first and last point: %g, %g", s.first, s.last);
	tap_ok(s.covered >= .88, "its interval contains the true value: %g",
	    s.covered);
	for (int ar = 0; ar <= 6; ar += 3) {
		s = simulate(60, 0, 59, 0, ar / 10.);
		tap_ok(s.trends <= .01, "noise, AR 0.%d: %g", ar, s.trends);
		s = simulate(60, 30, 30.5, 5, ar / 10.);
		tap_ok(s.trends <= .01, "a step of 5 sd, AR 0.%d: %g", ar,
		    s.trends);
	}
}

static void
exact(void)
{
	struct trend t;
	double v[60];

	for (size_t i = 0; i < 60; i++)
		v[i] = i < 15 ? 8 : i < 45 ? 8 + .5 * (double)(i - 15) : 23;
	for (size_t i = 0; i < 60; i += 2)
		v[i] += 1e-6;
	tap_ok(trend_find(v, 60, &t), "a slope between two levels");
	tap_ok(labs((long)t.first - 15) <= 1 && labs((long)t.last - 45) <= 1,
	    "its first and last point: %zu, %zu", t.first, t.last);
	tap_near(t.begin, 8, .02, "the value at its first point");
	tap_near(t.end, 23, .02, "the value at its last point");
	tap_ok(t.lo <= 15 && t.hi >= 15 && t.hi - t.lo < 1,
	    "its interval: %g to %g", t.lo, t.hi);
	for (size_t i = 0; i < 60; i++)
		v[i] = 7 - .25 * (double)i;
	tap_ok(trend_find(v, 60, &t) && t.first == 0 && t.last == 59 &&
		fabs(t.begin - 7) < 1e-9 && fabs(t.end + 7.75) < 1e-9,
	    "a line without noise is one trend");
	tap_ok(trend_find(v, TREND_LEAST, &t), "25 points are enough");
	tap_ok(!trend_find(v, TREND_LEAST - 1, &t), "24 points are too few");
	for (size_t i = 0; i < 60; i++)
		v[i] = 7;
	tap_ok(!trend_find(v, 60, &t), "a constant is not a trend");
	for (size_t i = 0; i < 60; i++)
		v[i] = i < 30 ? 7 : 9;
	tap_ok(!trend_find(v, 60, &t), "a step without noise is not a trend");
}

int
main(void)
{
	exact();
	simulated();
	return tap_done();
}
