/*
 * Does the rule keep its promises? Simulated comparisons with a fixed seed:
 * false alarms at the stated rate, real changes found.
 */
#include "tap.h"

#include "rng.h"
#include "judge/verdict.h"

enum { REPORTS = 200, CASES = 10, RUNS = 10 };

struct outcome {
	int alarms; /* reports with a regression or improvement among the same
		     */
	int found;  /* changes found, of REPORTS */
	int equivalent; /* rows of the same shown to be equivalent */
	int paired;
};

/* Box and Muller (1958). */
static double
normal(struct rng *r)
{
	return sqrt(2 * rng_exponential(r)) * cos(2 * M_PI * rng_unit(r));
}

/*
 * Reports of ten cases; the first changes by 'change'. 'drift' is noise that
 * both sides of a round share.
 */
static struct outcome
simulate(uint64_t seed, double cv, double drift, double change, bool paired,
    bool strict)
{
	struct outcome o = {0};
	struct rng r;

	rng_seed(&r, seed, 0);
	for (int i = 0; i < REPORTS; i++) {
		struct verdict_facts f[CASES];
		double x[RUNS], y[RUNS], p[CASES], q[CASES];
		bool alarm = false, certain;

		for (int c = 0; c < CASES; c++) {
			double by = c == 0 ? change : 0;

			for (int k = 0; k < RUNS; k++) {
				double round = drift * normal(&r);

				x[k] = 1e5 * exp(round + cv * normal(&r));
				y[k] = 1e5 * (1 + by) *
				    exp(round + cv * normal(&r));
			}
			f[c] = verdict_measure(x, RUNS, y, RUNS, paired);
			p[c] = f[c].p;
		}
		(strict ? verdict_holm : verdict_bh)(p, q, CASES);
		for (int c = 0; c < CASES; c++) {
			enum verdict v = verdict_decide(
			    &f[c], METRIC_HIGHER, .02, q[c], .05, &certain);

			if (c == 0 && change != 0)
				o.found += v == VERDICT_REGRESSION;
			else
				alarm |= v == VERDICT_REGRESSION ||
				    v == VERDICT_IMPROVEMENT;
			o.equivalent += v == VERDICT_EQUIVALENT;
		}
		o.alarms += alarm;
	}
	return o;
}

int
main(void)
{
	struct outcome o;

	/* 5 % of 200 is 10; two standard deviations are 6. */
	o = simulate(1, .03, 0, 0, false, false);
	tap_ok(
	    o.alarms <= 16, "A/A at cv 3%%: %d of 200 reports alarm", o.alarms);
	o = simulate(2, .03, 0, 0, false, true);
	tap_ok(o.alarms <= 16, "with Holm: %d", o.alarms);
	o = simulate(3, .10, 0, 0, false, false);
	tap_ok(o.alarms <= 16, "at cv 10%%: %d", o.alarms);
	o = simulate(4, .01, .2, 0, true, false);
	tap_ok(o.alarms <= 16, "paired, with a drift of 20%%: %d", o.alarms);
	o = simulate(5, .005, 0, 0, false, false);
	tap_ok(o.alarms == 0, "at cv .5%% the margin forbids alarms: %d",
	    o.alarms);
	tap_ok(
	    o.equivalent > 1990, "equivalent rows: %d of 2000", o.equivalent);
	o = simulate(6, .005, 0, -.01, false, false);
	tap_ok(
	    o.found == 0, "-1%% at cv .5%% is within the margin: %d", o.found);
	o = simulate(7, .03, 0, -.10, false, false);
	tap_ok(o.found >= 190, "-10%% at cv 3%%: found in %d of 200", o.found);
	o = simulate(8, .02, 0, -.05, false, false);
	tap_ok(o.found >= 180, "-5%% at cv 2%%: found in %d of 200", o.found);
	o = simulate(9, .01, .2, -.05, true, false);
	tap_ok(o.found >= 190,
	    "-5%% below a drift of 20%%, paired: found in %d of 200", o.found);
	o = simulate(9, .01, .2, -.05, false, false);
	tap_ok(o.found <= 20, "not paired it is lost: %d", o.found);
	return tap_done();
}
