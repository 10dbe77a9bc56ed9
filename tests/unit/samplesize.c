/*
 * What vkb-load advises before a session, and vkb-compare after it: the change
 * called visible, and the number of rounds, are confirmed by reports through
 * the model.
 */
#include "judge/claim.h"
#include "judge/model.h"
#include "judge/plan.h"
#include "judge/samplesize.h"
#include "normal.h"
#include "rng.h"
#include "tap.h"

#include <stdlib.h>

enum { CASES = 10, RUNS = 200 };

static void
numbers(void)
{
	struct samplesize s = {24, 1, .03, .02}, two = {24, 2, .03, .02},
			  one = {1, 2, .03, .02}, three = {1, 3, .03, .02};

	tap_ok(isnan(samplesize_visible_change(&s, 3)),
	    "three runs find no change");
	tap_ok(samplesize_visible_change(&s, 6) ==
		samplesize_visible_change(&two, 6),
	    "one build will be compared with another one");
	tap_ok(samplesize_visible_change(&three, 6) >
		samplesize_visible_change(&one, 6),
	    "a third build makes the change larger");
	one.margin = .05;
	one.noise = .001;
	tap_ok(samplesize_visible_change(&one, 6) > .05,
	    "a change within the margin is not found");
	tap_ok(samplesize_find_runs(&s, .15, 6, 10) == 6,
	    "six runs are enough for 24 cases and a large change");
	tap_ok(samplesize_find_runs(&s, .09, 6, 10) == 8 &&
		samplesize_visible_change(&s, 7) > .09 &&
		samplesize_visible_change(&s, 8) <= .09,
	    "a smaller one takes more runs, and not more than necessary");
	s.noise = .2;
	tap_ok(samplesize_find_runs(&s, .1, 6, 10) == 10,
	    "there are at most ten runs");
	tap_ok(samplesize_find_runs(&s, .1, 10, 6) == 10,
	    "there are at least as many as the smallest number");
}

struct report {
	struct model_row rows[CASES];
	struct model_run runs[CASES][2][RUNS];
	struct model_metric metric;
	double p;   /* that one more claim needs */
	bool found; /* the change of the first case */
};

/* Draws and judges a report with n rounds, of which the first case changed. */
static void
draw_report(struct rng *r, size_t cases, size_t n, double noise, double change,
    struct report *to)
{
	struct claim claims[CASES];

	for (size_t c = 0; c < cases; c++) {
		to->rows[c] = (struct model_row){.n = {n, n}};
		for (int j = 0; j < 2; j++) {
			to->rows[c].runs[j] = to->runs[c][j];
			for (size_t i = 0; i < n; i++)
				to->runs[c][j][i] =
				    (struct model_run){noise * normal_draw(r) +
					    (j && !c ? change : 0),
					0, (double)i};
		}
	}
	model_judge(to->rows, cases, &(struct model_prior){.01, .01, 3, 0, 0},
	    &to->metric);
	for (size_t c = 0; c < cases; c++) {
		const struct model_row *row = &to->rows[c];

		claims[c] = (struct claim){.p = fmax(row->down, row->up),
		    .beyond = fabs(row->rest) > -log1p(-.02)};
	}
	to->p = claim_choose(claims, cases, false);
	to->found = claims[0].word == CLAIM_CHANGE;
}

/* The standard deviation of a share of 100 is .04. */
static void
told(size_t cases, size_t n, double noise)
{
	struct samplesize s = {cases, 2, noise, .02};
	double change = log1p(-samplesize_visible_change(&s, n));
	struct report *at = calloc(1, sizeof *at);
	int found = 0, times = 100;
	struct rng r;

	rng_seed(&r, 7, n);
	for (int i = 0; i < times; i++) {
		draw_report(&r, cases, n, noise, change, at);
		found += at->found;
	}
	free(at);
	tap_ok(found > 70 && found < 96,
	    "%zu runs of %zu cases, noise %g%%: the change that is named is "
	    "found in %d of %d",
	    n, cases, 100 * noise, found, times);
}

/* Follows what reports say of their first, unclear case: 'rounds' that find the
 * change that was measured, or the change that would have been found. */
static void
follow(size_t cases, size_t n, double noise, double change, bool rounds)
{
	struct report *at = calloc(1, sizeof *at),
		      *next = calloc(1, sizeof *at);
	int all = 0, kept = 0;
	struct rng r;

	rng_seed(&r, 5, n);
	for (int i = 0; i < 80; i++) {
		struct plan p;
		size_t more = n;

		draw_report(&r, cases, n, noise, change, at);
		if (at->found)
			continue;
		p = plan_describe(&at->rows[0], &at->metric);
		p.margin = .02;
		p.p = at->p;
		if (rounds)
			more = plan_rounds(&p);
		else
			p.change = log1p(-plan_change(&p));
		if (!more || more > RUNS || isnan(p.change) ||
		    fabs(p.change) < .0203)
			continue;
		all++;
		draw_report(&r, cases, more, noise, p.change, next);
		kept += next->found;
	}
	free(at);
	free(next);
	tap_ok(all > 50 && kept > .7 * all && kept < .95 * all,
	    "%zu cases, %zu rounds: %s, true in %d of %d", cases, n,
	    rounds ? "'needs N rounds'" : "'would be missed'", kept, all);
}

static void
bounds(void)
{
	struct plan p = {.change = -.05,
	    .error = {4e-4, 5},
	    .round = {24e-4, 5},
	    .runs = 6,
	    .least = 7,
	    .margin = .02,
	    .unchanged = .8,
	    .p = PLAN_P};
	size_t n = plan_rounds(&p);

	tap_ok(n > 20 && n < 40, "a change of 5%% needs %zu rounds", n);
	p.change = .05;
	tap_ok(plan_rounds(&p) == n, "one upwards needs as many");
	p.p = .99;
	tap_ok(plan_rounds(&p) > n, "more, where a claim needs to be surer");
	p.p = PLAN_P;
	p.step = .03;
	tap_ok(plan_rounds(&p) > n, "more, with a coarse clock");
	p.step = 0;
	p.round.var /= 1e4;
	tap_ok(plan_rounds(&p) == 7, "at least one more than there are");
	p.round.var *= 1e4;
	p.change = -.001;
	n = plan_rounds(&p);
	tap_ok(n > 30 && n < 100, "%zu rounds show that there is no change", n);
	p.step = .02;
	tap_ok(plan_rounds(&p) == 0,
	    "none do, if the clock is as coarse as the margin");
	p.step = 0;
	p.change = log1p(-.02);
	tap_ok(plan_rounds(&p) == 0,
	    "nor if the change is as large as the margin");
	p.round.var = 0;
	tap_ok(plan_rounds(&p) == 0, "nor if the noise is not known");
	p.rho = .5;
	tap_ok(isnan(plan_change(&p)),
	    "of a few autocorrelated runs no visible change is known");
	p.runs = 8;
	tap_ok(plan_change(&p) > .05, "eight of them have one");
	p.error.var = 1e6;
	tap_ok(plan_sessions(&p, (const size_t[]){1, 1}, 1, -.05) == 0,
	    "no number of sessions shows a change in such noise");
}

int
main(void)
{
	numbers();
	bounds();
	told(1, 6, .03);
	told(4, 5, .01);
	told(10, 6, .05);
	follow(1, 6, .03, -.04, true);
	follow(10, 6, .02, -.04, true);
	follow(1, 6, .03, -.04, false);
	follow(10, 6, .02, -.04, false);
	return tap_done();
}
