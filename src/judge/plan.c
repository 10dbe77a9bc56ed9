#include "plan.h"
#include "model.h"
#include "odds.h"
#include "serial.h"
#include "tdist.h"

#include <math.h>
#include <stdbool.h>

#define POWER .8
#define MOST 1e6
#define MOST_SESSIONS 100
#define SERIAL_LEAST 8 /* autocorrelated runs; fewer underestimate noise */

/* The error of so many rounds. */
struct expected {
	double se, df; /* INFINITY: it does not vary */
	double known;  /* degrees of freedom of the estimate */
};

struct plan
plan_describe(const struct model_row *r, const struct model_metric *m)
{
	struct plan p = {.change = r->change,
	    .error = r->error,
	    .runs = r->n[0] < r->n[1] ? r->n[0] : r->n[1],
	    .least = r->pairs + 1,
	    .step = r->step,
	    .unchanged = m->unchanged};
	double runs, by, noise, seen;

	if (r->pairs)
		p.runs = r->pairs;
	else
		p.rho = m->rho;
	runs = (double)p.runs;
	by = serial_inflation(p.rho, runs);
	/* A row that is noisier than the others is shrunk towards them, but may
	 * truly be. */
	noise = r->own.var * runs / by;
	seen = r->noise[0].var + (r->pairs ? 0 : r->noise[1].var);
	seen = seen > noise ? seen : noise;
	p.error.var += (seen - noise) / 2 * by / runs;
	if (r->pairs)
		p.round = (struct moderate){
		    r->error.var * runs + seen - noise, r->own.df};
	return p;
}

/* The question is asked for unclear rows only, whose error is more often
 * estimated too large than too small: 1.8 is confirmed by simulations. */
static struct expected
expect_rounds(const struct plan *p, double n)
{
	return (struct expected){.se = sqrt(p->round.var / n),
	    .df = p->round.df * n / (double)p->runs,
	    .known = 1.8 * p->round.df};
}

/* Something that rises with x; NAN counts as less than any. */
typedef double rising(
    const struct plan *, struct expected, double threshold, double x);

/* Returns where it reaches 'want', by false positions of which an end that
 * stays counts half (the Illinois rule); NAN: not below 1000. */
static double
find_crossing(rising *f, const struct plan *p, struct expected e,
    double threshold, double want)
{
	double lo = 0, hi = 1, below = f(p, e, threshold, lo) - want, above;
	int stayed = 0;

	while (!((above = f(p, e, threshold, hi) - want) >= 0)) {
		if (hi > 1e3)
			return NAN;
		lo = hi;
		below = above;
		hi *= 2;
	}
	for (int i = 0; i < 60 && hi - lo > 1e-13 * hi; i++) {
		double mid = below < 0
		    ? hi - above * (hi - lo) / (above - below)
		    : (lo + hi) / 2;
		double v = f(p, e, threshold, mid) - want;

		if (v >= 0) {
			hi = mid;
			above = v;
			below /= stayed < 0 ? 2 : 1;
			stayed = -1;
		} else {
			lo = mid;
			below = v;
			above /= stayed > 0 ? 2 : 1;
			stayed = 1;
		}
	}
	return hi;
}

/* Returns the probability that a case alone rose by so many standard errors. */
static double
find_probability(
    const struct plan *p, struct expected e, double unused, double errors)
{
	struct odds_one own = odds_weigh(
	    errors * e.se, (struct moderate){e.se * e.se, e.df}, p->step);
	double changed = (1 - p->unchanged) * own.changed;

	(void)unused;
	return changed * (1 - own.down) /
	    (changed + p->unchanged * own.unchanged);
}

/* Returns the probability that Z + k u > t u'. */
static double
find_power(const struct plan *p, struct expected e, double t, double k)
{
	double mean = k * (1 - 1 / (4 * e.known)) - t * (1 - 1 / (4 * e.df));
	double var = 1 + k * k / (2 * e.known) + t * t / (2 * e.df);

	(void)p;
	return tdist_normal_cdf(mean / sqrt(var));
}

/*
 * The change that is claimed, and whose estimate is beyond the margin, with the
 * same power. Returns NAN if too few runs estimate the error.
 */
static double
find_shown_change(const struct plan *p, struct expected e)
{
	double t = find_crossing(find_probability, p, e, 0, p->p);
	double k = find_crossing(find_power, p, e, t, POWER);

	return isnan(k)
	    ? NAN
	    : fmax(k * e.se,
		  -log1p(-p->margin) + tdist_quantile(POWER, e.known) * e.se);
}

/* The power to show with two one-sided tests that a change is within the
 * margin. */
static double
find_equivalence_power(const struct plan *p, struct expected e)
{
	double t = tdist_quantile(.95, e.df), change = fabs(p->change);
	double wide = -log1p(-p->margin) - p->step;

	return find_power(p, e, t, (wide - change) / e.se) +
	    find_power(p, e, t, (wide + change) / e.se) - 1;
}

static bool
are_enough(const struct plan *p, double n)
{
	double change = fabs(p->change);
	struct expected e = expect_rounds(p, n);

	return change > -log1p(-p->margin)
	    ? find_shown_change(p, e) <= change
	    : find_equivalence_power(p, e) >= POWER;
}

size_t
plan_rounds(const struct plan *p)
{
	double lo = fmax(1, (double)p->least) - 1, hi;

	if (!(p->round.var > 0) || !(p->round.df > 0) || !p->runs)
		return 0;
	for (hi = lo + 1; !are_enough(p, hi); hi *= 2) {
		if (hi >= MOST)
			return 0;
		lo = hi;
	}
	while (hi - lo > 1) {
		double n = floor((lo + hi) / 2);

		if (are_enough(p, n))
			hi = n;
		else
			lo = n;
	}
	return (size_t)hi;
}

size_t
plan_sessions(
    const struct plan *p, const size_t sessions[2], size_t cases, double change)
{
	double one =
	    p->error.var / (1 / (double)sessions[0] + 1 / (double)sessions[1]);
	double each = cases > 1 ? (double)cases - 1 : 1;

	for (size_t n = PLAN_SESSIONS; n <= MOST_SESSIONS; n++) {
		double df = 2 * ((double)n - 1) * each;
		struct expected e = {sqrt(2 * one / (double)n), df, df};

		if (find_shown_change(p, e) <= -log1p(-change))
			return n;
	}
	return 0;
}

double
plan_change(const struct plan *p)
{
	struct expected e = {
	    sqrt(p->error.var), p->error.df, p->known ? INFINITY : p->error.df};

	if (!(e.se > 0) || !(e.df > 0) ||
	    (p->rho > 0 && p->runs < SERIAL_LEAST))
		return NAN;
	return -expm1(-find_shown_change(p, e));
}
