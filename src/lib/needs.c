#include "needs.h"
#include "tdist.h"
#include "verdict.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#define POWER .8
#define MOST 1e6
#define SERIAL_LEAST 8 /* autocorrelated runs; fewer underestimate noise */

/* The test of a number of runs on each side. */
struct plan {
	double se;    /* as estimated; wider for a rank test */
	double df;    /* of the test; INFINITY: the error does not vary */
	double known; /* degrees of freedom of the estimate */
	double t_df;  /* of the quantile of the test */
};

/* Plans a test with so many runs on each side, or rounds. */
typedef struct plan plan_test(
    const struct verdict_facts *, double n, double level);

/* The smallest p of a rank test of so many runs on each side. */
static double
find_least_p(bool paired, const double n[2])
{
	if (paired)
		return exp2(1 - n[0]);
	return 2 *
	    exp(lgamma(n[0] + 1) + lgamma(n[1] + 1) - lgamma(n[0] + n[1] + 1));
}

/*
 * With at least 'least' runs on each side. The present runs have a rank test if
 * their facts say so; more runs have one if the smallest p is small enough, as
 * for one significant result among all.
 */
static struct plan
plan_runs(const struct verdict_facts *f, double least, double level)
{
	double have[2] = {(double)f->m, (double)f->n}, n[2], by;
	struct plan e = {.known = f->df};
	double p_min = f->p_min;
	bool more, ranks = p_min > 0;

	for (size_t j = 0; j < 2; j++)
		n[j] = fmax(have[j], least);
	more = n[0] > have[0] || n[1] > have[1];
	by = (1 / have[0] + 1 / have[1]) / (1 / n[0] + 1 / n[1]);
	e.se = f->se / sqrt(by);
	e.df = f->df * by;
	if (f->serial > 0)
		e.known /= 4; /* the autocorrelation is an estimate, too */
	if (more) {
		p_min = find_least_p(f->paired, n);
		ranks = p_min <= level / 2;
	}
	if (ranks) {
		e.df = f->paired ? n[0] - 1 : n[0] + n[1] - 2;
		e.se *= 1.02 + .2 * sqrt(fmin(1, p_min / level));
	}
	e.t_df = e.df;
	if (f->assumed_se)
		e.df = e.known = INFINITY;
	return e;
}

/* Returns the effective sample size of a side of autocorrelated runs: n / f of
 * serial.h, where f is 'wider', the factor of the variance of a mean. */
static double
count_independent(const struct verdict_facts *f)
{
	double n = 2 / (1 / (double)f->m + 1 / (double)f->n);
	double wider = (f->wider[0] + f->wider[1]) / 2;

	return (n - 1 + wider) / wider;
}

/*
 * Plans n rounds in which both sides are measured one after the other, where
 * the present runs are not paired. The noise that neighbouring runs share, by
 * their autocorrelation r, cancels in each round. Rounds count as independent.
 * The estimate of r is too low for few runs, so the error is taken to be 5 %
 * smaller than r makes it; tests/bench/verdicts simulates this.
 */
static struct plan
plan_rounds(const struct verdict_facts *f, double n, double level)
{
	double var = f->se * f->se * count_independent(f) * (1 - f->serial);
	bool serial = f->serial > 0;
	struct plan e = {.se = (serial ? .95 : 1) * sqrt(var / n),
	    .df = n - 1 + fmax(0, f->prior.df),
	    .known = serial ? INFINITY : f->df};

	if (exp2(1 - n) <= level / 2) {
		e.df = n - 1;
		e.se *= 1.02 + .2 * sqrt(exp2(1 - n) / level);
	}
	e.t_df = e.df;
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
 * margin with the same power: k standard errors, by find_power a root of a
 * square equation. Returns NAN if too few runs estimate the error.
 */
static double
find_shown_change(struct plan e, double margin, double level)
{
	double t = tdist_quantile(1 - level / 2, e.t_df);
	double z = tdist_normal_quantile(POWER);
	double k = 1 - 1 / (4 * e.known), b = t * (1 - 1 / (4 * e.df));
	double square = k * k - z * z / (2 * e.known);
	double rest = b * b - z * z * (1 + t * t / (2 * e.df));

	if (!(k > 0 && square > 0))
		return NAN;
	k = (k * b + sqrt(k * k * b * b - square * rest)) / square;
	return fmax(
	    k * e.se, -log1p(-margin) + tdist_quantile(POWER, e.known) * e.se);
}

/* The power to show with two one-sided tests that a change is within the
 * margin. */
static double
find_equivalence_power(struct plan e, double change, double margin)
{
	double t = tdist_quantile(.95, e.t_df), wide = -log1p(-margin);

	return find_power(e, (wide - change) / e.se, t) +
	    find_power(e, (wide + change) / e.se, t) - 1;
}

/*
 * Do so many runs decide the row? The question is asked for unclear rows only,
 * whose error is more often estimated too large than too small. So the degrees
 * of freedom of the estimate are raised, by a factor that simulations confirm.
 */
static bool
are_enough(const struct verdict_facts *f, plan_test *plan, double n,
    double margin, double level)
{
	double change = fabs(log(f->ratio));
	bool beyond = change > -log1p(-margin);
	struct plan e = plan(f, n, beyond ? level : .10);

	e.known *= 1.8;
	return beyond ? find_shown_change(e, margin, level) <= change
		      : find_equivalence_power(e, change, margin) >= POWER;
}

/* Returns the least number above 'lo' that is enough; 0: MOST and more. */
static size_t
find_least(const struct verdict_facts *f, plan_test *plan, double lo,
    double margin, double level)
{
	double hi;

	for (hi = lo + 1; !are_enough(f, plan, hi, margin, level); hi *= 2) {
		if (hi >= MOST)
			return 0;
		lo = hi;
	}
	while (hi - lo > 1) {
		double n = floor((lo + hi) / 2);

		if (are_enough(f, plan, n, margin, level))
			hi = n;
		else
			lo = n;
	}
	return (size_t)hi;
}

size_t
needs_runs(const struct verdict_facts *f, double margin, double level)
{
	double lo = (double)(f->m < f->n ? f->m : f->n);

	if (!(level > 0))
		return 0;
	if (strcmp(f->method, "exact") == 0) {
		while (verdict_chance(lo, lo) > level)
			lo++;
		return (size_t)lo;
	}
	/* Other runs may be autocorrelated, which few of them do not show. */
	if (!(f->se > 0) || !f->paired)
		return 0;
	return find_least(f, plan_runs, lo, margin, level);
}

size_t
needs_rounds(const struct verdict_facts *f, double margin, double level)
{
	if (!(level > 0) || !(f->se > 0) || f->paired ||
	    count_independent(f) < VERDICT_RUNS)
		return 0;
	return find_least(f, plan_rounds, VERDICT_RUNS - 1, margin, level);
}

static double
find_change(
    const struct verdict_facts *f, double margin, double level, bool planned)
{
	size_t have = f->m < f->n ? f->m : f->n;
	size_t least = f->serial > 0 ? SERIAL_LEAST : VERDICT_RUNS;
	struct plan e;

	if (!(f->se > 0) || !(level > 0) || have < least)
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
