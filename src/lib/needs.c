#include "needs.h"
#include "serial.h"
#include "tdist.h"
#include "verdict.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#define POWER .8

/* The test of a number of runs on each side. */
struct plan {
	double se;    /* as estimated; wider for a rank test */
	double df;    /* of the test; INFINITY: the error does not vary */
	double known; /* degrees of freedom of the estimate */
	double t_df;  /* of the quantile of the test */
};

/* The smallest p of a rank test of so many runs on each side. */
static double
find_least_p(const struct verdict_facts *f, double n)
{
	if (f->paired)
		return exp2(1 - n);
	return 2 * exp(2 * lgamma(n + 1) - lgamma(2 * n + 1));
}

/* Is it a rank test? Of the present runs it is known; of more runs, it is if
 * the smallest p is small enough, as for one significant result among all. */
static bool
is_by_ranks(const struct verdict_facts *f, double n, double have, double level)
{
	if (n <= have)
		return f->p_min > 0;
	return !(f->serial > 0) && find_least_p(f, n) <= level / 2;
}

static struct plan
plan_runs(const struct verdict_facts *f, double n, double level)
{
	double have = (double)(f->m < f->n ? f->m : f->n), by = n / have;
	struct plan e = {f->se / sqrt(by), f->df * fmax(1, by), f->df, 0};

	if (f->serial > 0) {
		e.se *= sqrt(serial_inflation(f->serial, n) /
		    serial_inflation(f->serial, have));
		e.known /= 4; /* the autocorrelation is an estimate, too */
	}
	if (is_by_ranks(f, n, have, level)) {
		double least = n <= have ? f->p_min : find_least_p(f, n);

		e.df = f->paired ? n - 1 : 2 * n - 2;
		e.se *= 1.02 + .2 * sqrt(fmin(1, least / level));
	}
	e.t_df = e.df;
	if (f->assumed_se)
		e.df = e.known = INFINITY;
	return e;
}

/* Returns the probability that Z + k u > t u'. */
static double
find_power(struct plan e, double k, double t)
{
	double mean = k * (1 - 1 / (4 * e.known)) - t * (1 - 1 / (4 * e.df));
	double var = 1 + k * k / (2 * e.known) + t * t / (2 * e.df);

	return tdist_normal_cdf(mean / sqrt(var));
}

/*
 * The change that a p below 'level' shows, and whose estimate is beyond the
 * margin with the same power.
 */
static double
find_shown_change(struct plan e, double margin, double level)
{
	double t = tdist_quantile(1 - level / 2, e.t_df), lo = 0, hi = 1e3 * t;

	for (int i = 0; i < 60; i++) {
		double mid = (lo + hi) / 2;

		if (find_power(e, mid, t) < POWER)
			lo = mid;
		else
			hi = mid;
	}
	return fmax(
	    hi * e.se, -log1p(-margin) + tdist_quantile(POWER, e.known) * e.se);
}

/*
 * The power to show with two one-sided tests that a change is within the
 * margin. This is asked only where the interval is too wide, so that the error
 * is estimated too large rather than too small: its estimate counts for more,
 * by a factor that simulations confirm.
 */
static double
find_equivalence_power(struct plan e, double change, double margin)
{
	double t = tdist_quantile(.95, e.t_df), wide = -log1p(-margin);

	e.known *= 1.8;
	return find_power(e, (wide - change) / e.se, t) +
	    find_power(e, (wide + change) / e.se, t) - 1;
}

size_t
needs_runs(const struct verdict_facts *f, double margin, double level)
{
	const double most = 1e6;
	double lo = (double)(f->m < f->n ? f->m : f->n), hi = most;
	double change = fabs(f->change);
	bool beyond = change > -log1p(-margin);

	if (!(level > 0))
		return 0;
	if (strcmp(f->method, "exact") == 0) {
		while (verdict_chance(lo, lo) > level)
			lo++;
		return (size_t)lo;
	}
	/* Simulations do not confirm it for autocorrelated runs. */
	if (!(f->se > 0) || (f->serial > 0 && !beyond))
		return 0;
	while (hi - lo > 1) {
		double n = floor((lo + hi) / 2);
		struct plan e = plan_runs(f, n, beyond ? level : .10);

		if (beyond ? find_shown_change(e, margin, level) <= change
			   : find_equivalence_power(e, change, margin) >= POWER)
			hi = n;
		else
			lo = n;
	}
	return hi < most ? (size_t)hi : 0;
}

static double
find_change(
    const struct verdict_facts *f, double margin, double level, bool planned)
{
	size_t have = f->m < f->n ? f->m : f->n;
	struct plan e;

	if (!(f->se > 0) || !(level > 0) || have < VERDICT_RUNS)
		return NAN;
	e = plan_runs(f, (double)have, level);
	if (planned)
		e.known = INFINITY;
	return -expm1(-find_shown_change(e, margin, level));
}

double
needs_change(const struct verdict_facts *f, double margin, double level)
{
	return find_change(f, margin, level, false);
}

double
needs_planned_change(const struct verdict_facts *f, double margin, double level)
{
	return find_change(f, margin, level, true);
}
