/*
 * Verdicts by their definition: values without noise, the margin, the claims
 * and the numbers of runs at which the verdict changes.
 */
#include "judge/model.h"
#include "judge/verdict.h"
#include "tap.h"

/* Metrics without noise. */
static void
exact(void)
{
	static const double x[] = {100, 100, 100, 100}, y[] = {90, 90, 90, 90};
	static const double one[] = {100, 100, 101, 100}, z[] = {0, 0, 0, 0};
	struct verdict_facts f = verdict_measure_exact(x, 4, y, 3);

	tap_ok(f.assumed && f.ratio == .9 && f.lo90 == .9 && f.sd == 0,
	    "values without noise have a ratio without uncertainty");
	f = verdict_measure_exact(x, 1, x, 1);
	tap_ok(f.ratio == 1 && isnan(f.lo95) && isnan(f.hi90),
	    "one run of a side has no interval");
	f = verdict_measure_exact(one, 4, y, 4);
	tap_ok(f.ratio == .9 && isnan(f.sd) && f.lo95 == f.lo90 &&
		f.hi95 == f.hi90 && f.lo90 == 90. / 101 && f.hi90 == .9 &&
		verdict_is_spread(&f),
	    "if values differ, the interval holds all of their ratios");
	tap_ok(isnan(verdict_measure_exact(z, 4, y, 4).ratio) &&
		verdict_measure_exact(y, 4, z, 4).ratio == 0,
	    "a change from 0 has no ratio, a change to 0 has the ratio 0");
	f = verdict_start(one, 4, y, 3);
	tap_ok(f.m == 4 && f.n == 3 && f.median[0] == 100 &&
		f.median[1] == 90 && isnan(f.ratio) && isnan(f.p),
	    "at first the sides have their medians, and no result");
}

static const char *
decided_exact(double a, double b, double lo, double hi, bool spread)
{
	struct verdict_facts f = {.m = 3,
	    .n = 1,
	    .assumed = true,
	    .median = {a, b},
	    .ratio = a > 0 ? b / a : NAN,
	    .sd = spread ? NAN : 0,
	    .lo90 = lo,
	    .hi90 = hi};

	return verdict_name(verdict_decide(&f, METRIC_LOWER, .1, CLAIM_NONE));
}

static void
decisions_exact(void)
{
	tap_str(decided_exact(10, 8.9, NAN, NAN, false), "improvement",
	    "a change that is assumed to be exact needs no number of runs");
	tap_str(decided_exact(10, 9.01, NAN, NAN, false), "equivalent",
	    "10 to 9.01 is within a margin of 10 %%");
	tap_str(decided_exact(10, 11.1, NAN, NAN, false), "equivalent",
	    "10 to 11.1 is, too: the margin is that of logarithms");
	tap_str(decided_exact(10, 11.2, NAN, NAN, false), "regression",
	    "10 to 11.2 is not");
	tap_str(decided_exact(0, 12, NAN, NAN, false), "regression",
	    "up from 0 is a change");
	tap_str(decided_exact(0, 0, NAN, NAN, false), "equivalent",
	    "0 as before did not change");
	tap_str(decided_exact(10, 12, 1.05, 1.3, true), "inconclusive",
	    "runs that differ show no change if a ratio is within the margin");
	tap_str(decided_exact(10, 12, 1.12, 1.3, true), "regression",
	    "they show one if all of their ratios are beyond it");
	tap_str(decided_exact(10, 10, .91, 1.11, true), "equivalent",
	    "they show that there is none if all are within it");
}

/* Returns the verdict of a row whose 90 % interval has this half width. */
static const char *
decided(double change, double wide, enum claim_word word)
{
	struct verdict_facts f = {
	    .m = 4, .n = 4, .change = change, .wide = wide, .up = change > 0};

	return verdict_name(verdict_decide(&f, METRIC_HIGHER, .1, word));
}

static void
decisions(void)
{
	double margin = -log(1 - .1);
	struct verdict_facts f = {.m = 3, .n = 4, .change = -.5};

	tap_str(decided(-.2, .05, CLAIM_CHANGE), "regression",
	    "a claimed change down is a regression");
	tap_str(decided(.2, .05, CLAIM_CHANGE), "improvement",
	    "one up is an improvement");
	tap_str(decided(-.2, .05, CLAIM_LIKELY_CHANGE), "likely regression",
	    "a probable change is a likely regression");
	tap_str(decided(.2, .05, CLAIM_LIKELY_CHANGE), "likely improvement",
	    "or a likely improvement");
	tap_str(decided(-.2, .05, CLAIM_NONE), "inconclusive",
	    "a change that is not claimed is inconclusive");
	tap_str(decided(-.05, margin - .0501, CLAIM_NONE), "equivalent",
	    "an interval within the margin is equivalence");
	tap_str(decided(-.05, margin - .0499, CLAIM_NONE), "inconclusive",
	    "an interval that reaches beyond it below is inconclusive");
	tap_str(decided(.05, margin - .0499, CLAIM_NONE), "inconclusive",
	    "an interval that reaches beyond it above is inconclusive");
	tap_ok(verdict_decide(&f, METRIC_HIGHER, .1, CLAIM_CHANGE) ==
		VERDICT_INSUFFICIENT,
	    "three runs of the base are too few");
	f.m = 4;
	f.n = 3;
	tap_ok(verdict_decide(&f, METRIC_HIGHER, .1, CLAIM_CHANGE) ==
		VERDICT_INSUFFICIENT,
	    "three runs of the contender are too few");
	f.n = 4;
	tap_ok(verdict_decide(&f, METRIC_LOWER, .1, CLAIM_CHANGE) ==
		    VERDICT_IMPROVEMENT &&
		verdict_decide(&f, METRIC_NEITHER, .1, CLAIM_CHANGE) ==
		    VERDICT_DIFFERENT,
	    "the metric says which direction is better, if one is");
	tap_ok(verdict_is_likely(VERDICT_LIKELY_REGRESSION) &&
		verdict_is_likely(VERDICT_LIKELY_DIFFERENT) &&
		!verdict_is_likely(VERDICT_DIFFERENT) &&
		!verdict_is_likely(VERDICT_EQUIVALENT),
	    "the likely verdicts are known as such");
	tap_ok(!verdict_is_hopeless(100, 1, NAN) &&
		verdict_is_hopeless(101, 10, NAN) &&
		!verdict_is_hopeless(101, 10.1, NAN) &&
		!verdict_is_hopeless(200, 20, NAN) &&
		verdict_is_hopeless(201, 20, NAN),
	    "more than 100 runs and ten times the present number are hopeless");
	tap_ok(!verdict_is_hopeless(1000, 6, 60) &&
		verdict_is_hopeless(7, 6, 60.1),
	    "where the time is known, more than an hour is too much");
}

/* What a row of the model becomes. */
static void
taken(void)
{
	static const double v[] = {100, 100, 100, 100};
	struct model_row r = {.logs = true,
	    .pairs = 4,
	    .change = -.05,
	    .own = {1e-4, 9},
	    .error = {1e-4, 9},
	    .least = -.04,
	    .down = .97,
	    .up = .01};
	struct verdict_facts f = verdict_start(v, 4, v, 4);
	struct claim c;

	verdict_take(&f, &r);
	tap_ok(f.paired && f.ratio == exp(-.05) && f.se == .01 && f.df == 9 &&
		f.p == .97 && !f.up,
	    "the facts are those of the model");
	/* t of 9 degrees of freedom: 2.262157 and 1.833113. */
	tap_ok(fabs(log(f.lo95) + .05 + .02262157) < 1e-7 &&
		fabs(log(f.hi95) + .05 - .02262157) < 1e-7 &&
		fabs(log(f.lo90) + .05 + .01833113) < 1e-7 &&
		fabs(log(f.hi90) + .05 - .01833113) < 1e-7,
	    "the intervals are Student's");
	c = verdict_make_claim(&f, .02);
	tap_ok(c.p == .97 && c.beyond,
	    "a change relative to the machine's beyond the margin may be "
	    "claimed");
	tap_ok(!verdict_make_claim(&f, .04).beyond, "one within it may not");
	f.least = -.06;
	tap_ok(verdict_make_claim(&f, .048).beyond &&
		!verdict_make_claim(&f, .05).beyond,
	    "neither may one whose whole change, which is shown, is within "
	    "it");
	f.rest = -.055;
	tap_ok(verdict_make_claim(&f, .05).beyond,
	    "unless that relative to the other cases is shown instead");
	f.least = -.04;
	tap_ok(!verdict_make_claim(&f, .048).beyond,
	    "what the machine did may not carry a change beyond the margin");
	f.up = true;
	tap_ok(!verdict_make_claim(&f, .02).beyond,
	    "nor one whose likelier direction is another one");
	r.pairs = 0;
	r.shared = .5;
	r.step = .01;
	verdict_take(&f, &r);
	tap_ok(strcmp(f.method, "sessions") == 0 &&
		fabs(log(f.hi95) + .05 - .03262157) < 1e-7,
	    "a step makes the interval wider");
	r.own.df = 0;
	f = verdict_start(v, 4, v, 4);
	verdict_take(&f, &r);
	tap_ok(f.ratio == exp(-.05) && isnan(f.p) && isnan(f.lo95),
	    "without known noise there is a ratio alone");
	verdict_make_identical(&f);
	tap_ok(f.ratio == 1 && f.p == 0 && f.wide == 0,
	    "a measurement does not differ from itself");
}

static void
choices(void)
{
	struct claim v[] = {{.p = .999, .beyond = true},
	    {.p = .93, .beyond = true}, {.p = .84, .beyond = true}, {.p = .999},
	    {.p = .79, .beyond = true}, {.p = .88, .beyond = true},
	    {.p = .87, .beyond = true}};
	double next = claim_choose(v, 7, false);

	/* The sums of wrong ones: .001, .071, .191, .321; of 1, 2, 3 and 4 they
	 * may be .1, .2, .3 and .4. */
	tap_ok(v[0].word == CLAIM_CHANGE && v[1].word == CLAIM_CHANGE &&
		v[5].word == CLAIM_CHANGE && v[6].word == CLAIM_CHANGE,
	    "the claims are those of which one in ten is wrong");
	tap_ok(v[2].word == CLAIM_LIKELY_CHANGE && v[4].word == CLAIM_NONE,
	    "a claim with more than .15 to be wrong is likely at most");
	tap_ok(v[3].word == CLAIM_NONE,
	    "a change within the margin is not claimed");
	tap_near(next, .85, 1e-12, "one more claim has to have at most .15");
	next = claim_choose(v, 7, true);
	tap_ok(v[0].word == CLAIM_CHANGE && v[1].word == CLAIM_CHANGE &&
		v[5].word == CLAIM_LIKELY_CHANGE,
	    "strict: it is at most .1 that any is wrong");
	tap_near(next, 1 - (.1 - .071), 1e-12,
	    "strict: the next one has what is left");
	v[1].shown = v[2].shown = true;
	claim_choose(v, 7, true);
	tap_ok(v[1].word == CLAIM_CHANGE && v[2].word == CLAIM_LIKELY_CHANGE,
	    "those that are only shown are chosen among themselves");
	tap_near(claim_choose(v, 0, false), .9, 1e-12,
	    "without claims the first one has to have .9");
}

/* Does the other metric, from c to d, outweigh a rise from a to b? */
static bool
is_outweighed(const char *name, double a, double b, const char *other, double c,
    double d, enum verdict verdict)
{
	struct verdict_facts rise = {.ratio = b / a, .median = {a, b}};
	struct verdict_facts facts = {.ratio = d / c, .median = {c, d}};
	struct verdict_other by = {.name = other,
	    .facts = &facts,
	    .verdict = verdict,
	    .time = strcmp(other, "rps") == 0};

	return verdict_outweighs(&by, name, &rise);
}

static void
outweighed(void)
{
	static const char work[] = "instructions_per_req";
	static const char calls[] = "syscalls_per_req";
	static const char memory[] = "allocations_per_req";

	tap_ok(
	    is_outweighed(work, 1000, 1009, "rps", 9, 9, VERDICT_EQUIVALENT) &&
		!is_outweighed(
		    work, 1000, 1009, "rps", 9, 9, VERDICT_INCONCLUSIVE),
	    "a time without a change outweighs .9%% more instructions");
	tap_ok(
	    !is_outweighed(work, 1000, 1011, "rps", 9, 9, VERDICT_EQUIVALENT),
	    "but not 1.1%% more");
	tap_ok(is_outweighed(
		   calls, 1, 3, work, 50000, 29999, VERDICT_IMPROVEMENT) &&
		!is_outweighed(
		    calls, 1, 3, work, 50000, 30001, VERDICT_IMPROVEMENT),
	    "10,000 fewer instructions outweigh one more system call");
	tap_ok(is_outweighed(calls, 1, 3, "rps", 9, 10, VERDICT_IMPROVEMENT) &&
		!is_outweighed(
		    calls, 1, 3, "rps", 9, 10, VERDICT_LIKELY_IMPROVEMENT),
	    "and less time does, if it is certain");
	tap_ok(is_outweighed(
		   memory, 1, 2, work, 9, 8, VERDICT_LIKELY_IMPROVEMENT) &&
		!is_outweighed(memory, 1, 2, calls, 9, 8, VERDICT_IMPROVEMENT),
	    "likely fewer instructions outweigh more allocations, fewer "
	    "system calls do not");
}

int
main(void)
{
	exact();
	decisions_exact();
	decisions();
	taken();
	choices();
	outweighed();
	return tap_done();
}
