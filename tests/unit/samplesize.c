/*
 * How many runs are planned: the levels of the families, and that as many runs
 * find the change they should, by simulation with the rules of the other
 * modules.
 */
#include "family.h"
#include "ranktest.h"
#include "rng.h"
#include "judge/samplesize.h"
#include "slowpower.h"
#include "tap.h"
#include "tdist.h"
#include "judge/verdict.h"

enum { CASES = 24, RUNS = 14 };

static void
levels(void)
{
	const enum test_family judged[] = {
	    FAMILY_PRIMARY, FAMILY_OTHER, FAMILY_COMMON};
	double sum = 0;

	tap_near(family_level(FAMILY_PRIMARY, false, false), .05, 0,
	    "if there is one family, it has the whole level");
	tap_ok(family_level(FAMILY_PRIMARY, true, false) == .03 &&
		family_level(FAMILY_OTHER, true, false) == .02 &&
		family_level(FAMILY_SHOWN, true, true) == .05,
	    "two families share the level; metrics that are only shown take no "
	    "part of it");
	for (size_t i = 0; i < 3; i++)
		sum += family_level(judged[i], true, true);
	tap_near(sum, .05, 1e-15, "the levels of three families add up to .05");
	tap_near(family_next_level(.03, 10, 0, false), .003, 1e-15,
	    "Benjamini and Hochberg: the first of ten");
	tap_near(family_next_level(.03, 10, 4, false), .015, 1e-15,
	    "the fifth of ten");
	tap_near(family_next_level(.03, 10, 10, false), .03, 1e-15,
	    "Benjamini and Hochberg: after ten of ten");
	tap_near(family_next_level(.03, 10, 4, true), .005, 1e-15,
	    "Holm: the fifth of ten");
	tap_near(family_next_level(.03, 10, 10, true), .03, 1e-15,
	    "Holm: all were found");
	tap_near(family_rank_limit(.03, 10), .0015, 1e-15,
	    "a rank test can reach half of the level");
}

/* With one case there is no prior variance: the change is that of a paired t
 * test. */
static void
one_case(void)
{
	struct samplesize s = {1, 2, .03, .02};
	double change, power;

	tap_ok(isnan(samplesize_visible_change(&s, 3)),
	    "three runs find no change");
	change = -log1p(-samplesize_visible_change(&s, 6));
	power = power_of(6, change / (.03 * sqrt(2)), true, .03);
	tap_near(
	    power, .8, .005, "six rounds of one case find it with power .8");
	s.margin = .05;
	s.noise = .001;
	tap_ok(samplesize_visible_change(&s, 6) > .05,
	    "a change within the margin is not found");
}

static void
numbers(void)
{
	struct samplesize s = {24, 1, .03, .02}, two = {24, 2, .03, .02},
			  three = {24, 3, .03, .02};

	tap_ok(samplesize_visible_change(&s, 6) ==
		    samplesize_visible_change(&two, 6) &&
		samplesize_visible_change(&three, 6) >
		    samplesize_visible_change(&two, 6),
	    "a third build adds tests and makes the change larger, two builds "
	    "do not");
	tap_ok(samplesize_find_runs(&s, SAMPLESIZE_CHANGE, SAMPLESIZE_LEAST,
		   SAMPLESIZE_MOST) == 6,
	    "six runs are enough for 24 cases");
	s.noise = .042;
	tap_ok(samplesize_find_runs(&s, .1, 6, 10) == 7 &&
		samplesize_visible_change(&s, 6) > .1 &&
		samplesize_visible_change(&s, 7) <= .1,
	    "with more noise there are more runs, and not more than necessary");
	s.noise = .2;
	tap_ok(samplesize_find_runs(&s, .1, 6, 10) == 10,
	    "there are at most ten runs");
	tap_ok(samplesize_find_runs(&s, .1, 10, 6) == 10,
	    "there are at least as many as the smallest number");
}

/* Returns ln(contender / baseline) for a round of a case. */
static double
draw_round(struct rng *r, double change, double noise)
{
	double z = sqrt(2 * rng_exponential(r)) * cos(2 * M_PI * rng_unit(r));

	return change + sqrt(2) * noise * z;
}

/* Returns the share of reports with n rounds that find the change of the first
 * case. */
static double
simulate(const struct samplesize *s, size_t n, double change, int reports)
{
	double limit = family_rank_limit(.03, s->cases), p[CASES], by[CASES];
	struct rng r;
	int found = 0;

	rng_seed(&r, 7, n);
	for (int k = 0; k < reports; k++) {
		struct verdict_facts f[CASES];
		struct moderate v[CASES], prior;

		for (size_t c = 0; c < s->cases; c++) {
			double x[RUNS], y[RUNS];

			for (size_t i = 0; i < n; i++) {
				x[i] = 100;
				y[i] = 100 *
				    exp(draw_round(
					&r, c ? 0 : change, s->noise));
			}
			f[c] = verdict_measure(x, n, y, n, true);
			v[c] = f[c].noise[0];
		}
		prior = moderate_prior(v, s->cases);
		for (size_t c = 0; c < s->cases; c++) {
			verdict_set_error(&f[c], &prior);
			if (f[c].p_min > limit)
				verdict_use_t(&f[c], prior.df > 0, .05, .1);
			p[c] = f[c].p;
		}
		verdict_bh(p, by, s->cases);
		found += by[0] < .03 && f[0].ratio < 1 - s->margin;
	}
	return (double)found / reports;
}

static void
simulated(void)
{
	static const struct {
		size_t cases, runs;
	} v[] = {{1, 6}, {1, 8}, {3, 6}, {8, 4}, {24, 6}, {24, 14}};

	for (size_t i = 0; i < sizeof v / sizeof *v; i++) {
		struct samplesize s = {v[i].cases, 2, .03, .02};
		double change =
		    log1p(-samplesize_visible_change(&s, v[i].runs));

		/* The standard deviation of a share of 1,000 is at most
		 * .0125. */
		double found = simulate(&s, v[i].runs, change, 1000);

		tap_ok(fabs(found - .8) < .05,
		    "simulated: %zu runs of %zu cases find the change with "
		    "power .8: %g",
		    v[i].runs, v[i].cases, found);
	}
}

int
main(void)
{
	levels();
	one_case();
	numbers();
	simulated();
	return tap_done();
}
