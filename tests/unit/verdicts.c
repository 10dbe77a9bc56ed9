/*
 * Verdicts by their definition: the facts by their formulas, the margin, and
 * the numbers of runs at which the verdict changes.
 */
#include "needs.h"
#include "ranktest.h"
#include "rng.h"
#include "serial.h"
#include "stats.h"
#include "tap.h"
#include "tdist.h"
#include "judge/verdict.h"

#include <stdlib.h>

enum { RUNS = 12, FAMILY = 9 };

static double
mean_log(const double *v, size_t n, double *sd)
{
	double logs[RUNS];

	for (size_t i = 0; i < n; i++)
		logs[i] = log(v[i]);
	*sd = stats_sd(logs, n);
	return stats_mean(logs, n);
}

static void
facts(void)
{
	static const double x[] = {100, 103, 99, 104, 98, 101, 105, 97, 102};
	static const double y[] = {94, 93, 97, 92, 96, 95, 91};
	struct verdict_facts f =
	    verdict_measure_looked(x, 9, y, 7, false, .05, .1);
	struct ranktest t = ranktest_mwu(x, 9, y, 7);
	struct ranktest_pairs *p = ranktest_ratios(x, 9, y, 7);
	double sd[2], lo, hi;

	tap_ok(f.m == 9 && f.n == 7 && f.median[0] == 101 && f.median[1] == 94,
	    "each side has its number of runs and its median");
	tap_ok(f.p == t.p && f.p_min == t.p_min &&
		fabs(f.cliff + 62. / 63) < 1e-12 &&
		strcmp(f.method, "mwu-exact") == 0,
	    "62 of 63 pairs are lower, one is equal: p and delta");
	ranktest_pairs_ci(p, .95, &lo, &hi);
	tap_ok(
	    f.ratio == ranktest_pairs_median(p) && f.lo95 == lo && f.hi95 == hi,
	    "the ratio and its 95 %% interval are those of all pairs");
	ranktest_pairs_ci(p, .9, &lo, &hi);
	tap_ok(f.lo90 == lo && f.hi90 == hi && f.lo95 < lo && hi < f.hi95,
	    "the 90 %% interval is narrower");
	ranktest_pairs_free(p);
	tap_near(f.change, mean_log(y, 7, &sd[1]) - mean_log(x, 9, &sd[0]),
	    1e-12, "the change is that of the mean logarithms");
	tap_ok(fabs(f.noise[0].var - sd[0] * sd[0]) < 1e-12 &&
		fabs(f.noise[1].var - sd[1] * sd[1]) < 1e-12 &&
		f.noise[0].df == 8 && f.noise[1].df == 6,
	    "the noise of a side is the variance of its logarithms");
	tap_near(f.sd, sqrt((sd[0] * sd[0] + sd[1] * sd[1]) / 2), 1e-12,
	    "the standard deviation is that of the logarithms of both sides");
}

/* Student's t on logarithms, by its formulas. */
static void
student(void)
{
	static const double x[] = {100, 103, 99, 104}, y[] = {94, 93, 97};
	static const double z[] = {5, 0, 4};
	struct verdict_facts f = verdict_measure(x, 4, y, 3, false);
	struct moderate prior = {.0004, 12}, none = {NAN, 0}, s[2];
	double lx[4], ly[3], r = .5, n = 4, wide;
	struct stats_welch w;

	for (int i = 0; i < 4; i++)
		lx[i] = log(x[i]);
	for (int i = 0; i < 3; i++)
		ly[i] = log(y[i]);
	w = stats_welch(lx, 4, ly, 3, .95);
	verdict_set_error(&f, &none);
	tap_ok(fabs(f.se - w.se) < 1e-12 && fabs(f.df - w.df) < 1e-9,
	    "without a prior the error is Welch's");
	tap_ok(verdict_use_t(&f, false, .05, .1) && fabs(f.p - w.p) < 1e-12 &&
		f.p_min == 0 && strcmp(f.method, "t") == 0,
	    "p is Welch's, without a smallest p");
	tap_ok(fabs(f.lo95 - exp(w.lo)) < 1e-12 &&
		fabs(f.hi95 - exp(w.hi)) < 1e-12 &&
		fabs(f.ratio - exp(w.diff)) < 1e-12,
	    "ratio and 95 %% interval are Welch's");
	wide = w.se * tdist_quantile(.95, w.df);
	tap_ok(fabs(f.lo90 - exp(w.diff - wide)) < 1e-12 &&
		fabs(f.hi90 - exp(w.diff + wide)) < 1e-12,
	    "the 90 %% interval is Welch's");
	verdict_use_t(&f, true, .01, .02);
	wide = w.se * tdist_quantile(.995, w.df);
	tap_ok(fabs(f.lo95 - exp(w.diff - wide)) < 1e-12 &&
		strcmp(f.method, "moderated-t") == 0,
	    "the levels of sequential looks make the interval wider");
	for (int j = 0; j < 2; j++) {
		s[j] = moderate_shrink(f.noise[j], &prior);
		s[j].var /= j ? 3 : 4;
	}
	verdict_set_error(&f, &prior);
	tap_near(f.se, sqrt(s[0].var + s[1].var), 1e-12,
	    "the variances of the sides are moderated");
	f = verdict_measure(x, 4, y, 3, false);
	verdict_set_serial(&f, r, (size_t[]){1, 3});
	w.se = serial_inflation(r, n);
	tap_near(f.wider[0], w.se * (n - 1) / (n - w.se), 1e-12,
	    "autocorrelated runs increase the error of the mean");
	tap_near(f.noise[0].df, fmax(1, 3 * (n / w.se - 1) / (n - 1)), 1e-12,
	    "autocorrelated runs reduce the degrees of freedom");
	tap_ok(f.wider[1] == 1 && f.noise[1].df == 2,
	    "a series of one run has no neighbours");
	f = verdict_measure(x, 3, y, 3, true);
	verdict_set_error(&f, &none);
	tap_ok(fabs(f.se - sqrt(f.noise[0].var / 3)) < 1e-12 && f.df == 2,
	    "the error of pairs is that of their differences");
	f = verdict_measure(x, 3, z, 3, false);
	verdict_set_error(&f, &prior);
	tap_ok(isnan(f.se) && !verdict_use_t(&f, false, .05, .1) &&
		strcmp(f.method, "mwu-exact") == 0,
	    "a value of 0 has no logarithm: the rank test is used");
	f = verdict_measure(
	    (double[]){1, 2, 3}, 3, (double[]){2, 4, 6}, 3, true);
	f.noise[0].var = 0;
	verdict_set_error(&f, &none);
	tap_ok(!verdict_use_t(&f, false, .05, .1) &&
		strcmp(f.method, "signed-rank") == 0,
	    "differences without noise and without a prior have no t test");
}

static void
without_noise(void)
{
	static const double x[] = {100, 100, 100, 100, 100, 100},
			    y[] = {90, 90, 90, 90}, z[] = {0, 0, 0, 0};
	static const double one[] = {100, 100, 101, 100};
	struct verdict_facts f = verdict_measure(x, 6, y, 4, false);

	tap_near(f.p, 2 * pow(.6, 6) * pow(.4, 4), 1e-12,
	    "6 against 4 without noise: 2 q^6 (1 - q)^4 at q = .6");
	tap_ok(f.ratio == .9 && f.lo95 == .9 && f.hi90 == .9 && f.cliff == -1,
	    "the ratio has no uncertainty");
	f = verdict_measure(x, 6, y, 3, false);
	tap_ok(strcmp(f.method, "mwu-exact") == 0,
	    "three runs of a side are too few to assume that it has no noise");
	f = verdict_measure(x, 3, y, 4, false);
	tap_ok(strcmp(f.method, "mwu-exact") == 0,
	    "three runs of the contender are too few to be without noise");
	f = verdict_measure(z, 4, y, 4, false);
	tap_ok(isnan(f.ratio) && f.cliff == 1, "up from 0 has no ratio");
	f = verdict_measure(y, 4, z, 4, false);
	tap_ok(f.ratio == 0 && f.cliff == -1, "down to 0 has the ratio 0");
	f = verdict_measure(one, 4, one, 4, true);
	tap_ok(strcmp(f.method, "identical") == 0 && f.paired && f.ratio == 1,
	    "pairs that are all equal are identical");
	f = verdict_measure(one, 4, one, 4, false);
	tap_ok(strcmp(f.method, "mwu-exact") == 0,
	    "equal values that are not paired are tested");
	f = verdict_measure(x, 1, one, 4, false);
	tap_ok(isnan(f.sd) && isnan(verdict_measure(one, 4, x, 1, false).sd),
	    "with one run a side the noise is unknown");
	f = verdict_measure(x, 1, x, 1, false);
	tap_ok(f.ratio == 1 && isnan(f.lo95) && isnan(f.hi90),
	    "one run of a side has no interval");
	f = verdict_measure(x, 2, x, 2, false);
	tap_ok(f.lo95 == 1 && f.hi95 == 1 && f.lo90 == 1 && f.hi90 == 1,
	    "two equal runs a side have an interval");
	f = verdict_measure_exact(x, 4, y, 3);
	tap_ok(f.assumed && f.ratio == .9 && f.lo90 == .9 && f.sd == 0,
	    "values without noise have a ratio without uncertainty");
	f = verdict_measure_exact(one, 4, y, 4);
	tap_ok(f.ratio == .9 && isnan(f.sd) && f.lo95 == f.lo90 &&
		f.hi95 == f.hi90 && f.lo90 == 90. / 101 && f.hi90 == .9,
	    "if values have noise, the interval holds all of their ratios");
	tap_ok(isnan(verdict_measure_exact(z, 4, y, 4).ratio) &&
		verdict_measure_exact(y, 4, z, 4).ratio == 0,
	    "a change from 0 has no ratio, a change to 0 has the ratio 0");
}

static void
paired(void)
{
	static const double x[] = {100, 103, 99, 104, 98, 101, 105},
			    y[] = {98, 102, 98, 100, 97, 96, 106};
	struct verdict_facts f = verdict_measure(x, 7, y, 7, true);
	double d[7], lo, hi;
	struct ranktest_pairs *p;

	for (int i = 0; i < 7; i++)
		d[i] = log(y[i] / x[i]);
	p = ranktest_walsh(d, 7);
	tap_ok(f.paired && fabs(f.p - ranktest_signed(d, 7).p) < 1e-12 &&
		f.p_min == 2. / 128,
	    "pairs have the p of the signed ranks");
	tap_near(f.ratio, exp(ranktest_pairs_median(p)), 1e-12,
	    "the ratio is that of the Walsh averages of logarithms");
	ranktest_pairs_ci(p, .95, &lo, &hi);
	tap_ok(fabs(f.lo95 - exp(lo)) < 1e-12 && fabs(f.hi95 - exp(hi)) < 1e-12,
	    "the 95 %% interval is that of the Walsh averages");
	ranktest_pairs_ci(p, .9, &lo, &hi);
	tap_ok(fabs(f.lo90 - exp(lo)) < 1e-12 && fabs(f.hi90 - exp(hi)) < 1e-12,
	    "the 90 %% interval is that of the Walsh averages");
	tap_near(f.sd, stats_sd(d, 7), 1e-9, "the deviation is of the pairs");
	ranktest_pairs_free(p);
}

/* Returns the verdict for this ratio, p and 90 % interval, with a margin of 10
 * %. */
static const char *
decided(double ratio, double p, double lo, double hi, bool *certain)
{
	struct verdict_facts f = {.m = 4,
	    .n = 4,
	    .ratio = ratio,
	    .p = p,
	    .lo95 = .5,
	    .hi95 = 2,
	    .lo90 = lo,
	    .hi90 = hi,
	    .method = "mwu-exact"};

	return verdict_name(
	    verdict_decide(&f, METRIC_HIGHER, .1, p, .05, certain));
}

/* Returns the verdict for a change that is not significant after the
 * correction, with a margin of 10 %. */
static const char *
likely(double ratio, double lo, double hi)
{
	struct verdict_facts f = {.m = 4,
	    .n = 4,
	    .ratio = ratio,
	    .lo95 = lo,
	    .hi95 = hi,
	    .lo90 = lo,
	    .hi90 = hi,
	    .method = "t"};
	bool certain;

	return verdict_name(
	    verdict_decide(&f, METRIC_HIGHER, .1, .2, .05, &certain));
}

static void
decisions(void)
{
	struct verdict_facts f = {.m = 3, .n = 4, .ratio = .5, .p = .01};
	bool certain;

	tap_str(decided(.89, .049, .8, .95, &certain), "regression",
	    "a ratio below .9 with p below .05 is a regression");
	tap_ok(!certain,
	    "it is not certain if its interval reaches into the margin");
	tap_str(decided(.89, .05, .8, .95, &certain), "inconclusive",
	    "with a p of .05 a regression is inconclusive");
	decided(.89, .01, .8, .8999, &certain);
	tap_ok(certain, "a regression whose interval ends below .9 is certain");
	decided(.89, .01, .8, 1 - .1, &certain);
	tap_ok(
	    !certain, "a regression whose interval ends at .9 is not certain");
	decided(1.12, .01, 1 / (1 - .1), 1.2, &certain);
	tap_ok(!certain,
	    "an improvement whose interval begins at 1 / .9 is not certain");
	tap_str(decided(.9, .01, .85, .95, &certain), "inconclusive",
	    "a ratio of .9 is within the margin");
	tap_str(decided(1.12, .01, 1.10, 1.2, &certain), "improvement",
	    "a ratio above 1 / .9 is an improvement");
	tap_ok(!certain,
	    "an improvement whose interval begins at 1.10 is not certain");
	decided(1.12, .01, 1.1112, 1.2, &certain);
	tap_ok(certain,
	    "an improvement whose interval begins at 1.1112 is certain");
	tap_str(decided(1.11, .01, 1.05, 1.2, &certain), "inconclusive",
	    "a ratio of 1.11 is within the margin");
	tap_str(decided(1, .5, .901, 1.11, &certain), "equivalent",
	    "an interval within .9 and 1 / .9 is equivalence");
	tap_str(decided(1, .5, .899, 1.11, &certain), "inconclusive",
	    "an interval that begins below .9 is inconclusive");
	tap_str(decided(1, .5, .901, 1.112, &certain), "inconclusive",
	    "an interval that ends above 1 / .9 is inconclusive");
	tap_str(decided(1, .5, 1 - .1, 1.11, &certain), "inconclusive",
	    "an interval that begins at .9 is inconclusive");
	tap_str(decided(1, .5, .901, 1 / (1 - .1), &certain), "inconclusive",
	    "an interval that ends at 1 / .9 is inconclusive");
	tap_str(likely(.89, .8, .999), "likely regression",
	    "a change beyond the margin whose own interval is below 1 is "
	    "likely");
	tap_str(likely(.89, .8, 1), "inconclusive",
	    "a change whose own interval ends at 1 is not likely");
	tap_str(likely(.91, .85, .99), "inconclusive",
	    "a change within the margin is not likely");
	tap_str(likely(1.2, 1.001, 1.3), "likely improvement",
	    "an improvement whose own interval is above 1 is likely");
	tap_str(likely(1.2, 1, 1.3), "inconclusive",
	    "an improvement whose own interval begins at 1 is not likely");
	tap_ok(verdict_is_likely(VERDICT_LIKELY_REGRESSION) &&
		verdict_is_likely(VERDICT_LIKELY_DIFFERENT) &&
		!verdict_is_likely(VERDICT_DIFFERENT) &&
		!verdict_is_likely(VERDICT_EQUIVALENT),
	    "the likely verdicts are known as such");
	tap_ok(verdict_decide(&f, METRIC_HIGHER, .1, .01, .05, &certain) ==
		VERDICT_INSUFFICIENT,
	    "three runs of the base are too few");
	f.m = 4;
	f.n = 3;
	tap_ok(verdict_decide(&f, METRIC_HIGHER, .1, .01, .05, &certain) ==
		VERDICT_INSUFFICIENT,
	    "three runs of the contender are too few");
	f.assumed = true;
	tap_ok(verdict_decide(&f, METRIC_LOWER, .1, .01, .05, &certain) ==
		VERDICT_IMPROVEMENT,
	    "a change that is assumed to be exact needs no number of runs");
	f.ratio = NAN;
	f.median[0] = 10;
	f.median[1] = 12;
	tap_ok(verdict_decide(&f, METRIC_LOWER, .1, .01, .05, &certain) ==
		VERDICT_REGRESSION,
	    "without a ratio the medians are compared");
	f.median[1] = 11;
	f.lo90 = .95;
	f.hi90 = 1.05;
	tap_ok(verdict_decide(&f, METRIC_LOWER, .1, .01, .05, &certain) ==
		VERDICT_EQUIVALENT,
	    "10 to 11 is within a margin of 10 %%");
	f.median[0] = .5;
	f.median[1] = .49;
	tap_ok(verdict_decide(&f, METRIC_LOWER, .1, .01, .05, &certain) ==
		VERDICT_EQUIVALENT,
	    "medians below 1 are compared by their ratio, too");
}

/* Returns an independent normal value with variance 1. */
static double
draw_normal(struct rng *r)
{
	return sqrt(2 * rng_exponential(r)) * cos(2 * M_PI * rng_unit(r));
}

/* Returns the share of 4,000 reports that find a change of 'k' times the
 * standard error which an earlier report estimated. */
static double
power_of(double k, double df, double later, double level)
{
	double t = tdist_quantile(1 - level / 2, later), found = 0;
	struct rng r;

	rng_seed(&r, 1, 1);
	for (int i = 0; i < 4000; i++) {
		double u[2] = {0, 0}, x;

		for (int n = 0; n < 2; n++) {
			int of = (int)(n ? later : df);

			for (int j = 0; j < of; j++) {
				x = draw_normal(&r);
				u[n] += x * x / of;
			}
		}
		found += (draw_normal(&r) + k * sqrt(u[0])) / sqrt(u[1]) > t;
	}
	return found / 4000;
}

static void
needs(void)
{
	static const double dfs[] = {3, 6, 18, 60, 400};
	static const double levels[] = {.05, .003, .0003};
	struct verdict_facts f = {.m = 5,
	    .n = 5,
	    .ratio = exp(-.03),
	    .se = .02,
	    .df = 40,
	    .wider = {1, 1},
	    .method = "moderated-t"};
	bool power = true;
	size_t n;

	for (size_t i = 0; i < 5; i++)
		for (size_t k = 0; k < 3; k++) {
			struct verdict_facts g = {.m = 5,
			    .n = 5,
			    .se = .02,
			    .df = dfs[i],
			    .method = "t"};
			double v = needs_change(&g, .001, levels[k]);
			double p =
			    power_of(-log(1 - v) / .02, g.df, g.df, levels[k]);

			power = power && p > .75 && p < .85;
		}
	tap_ok(power, "the visible change is found with power .8");
	f.se = .001;
	tap_near(needs_change(&f, .02, .05),
	    1 - .98 * exp(-.001 * tdist_quantile(.8, 40)), 1e-12,
	    "the visible change is beyond the margin if the noise is small");
	f.se = .02;
	tap_ok(needs_runs(&f, .02, .003) == 0,
	    "autocorrelated runs that are not paired need rounds, not runs");
	n = needs_rounds(&f, .02, .003);
	tap_near(power_of(.03 / (.02 * sqrt(5 / (double)n)), 40, (double)n - 1,
		     .003),
	    .83, .05, "they need this number of rounds");
	f.paired = true;
	n = needs_runs(&f, .02, .003);
	tap_near(
	    power_of(.03 / .02 * sqrt((double)n / 5), 40, 8. * (double)n, .003),
	    .83, .05,
	    "the runs that show a change beyond the margin, a few more for a "
	    "rank test");
	tap_ok(needs_runs(&f, .02, .05) < n, "fewer tests need fewer runs");
	f.m = 50;
	tap_ok(needs_runs(&f, .02, .003) > n,
	    "more runs are needed if the smaller side causes the error");
	f.m = 5;
	tap_ok(needs_rounds(&f, .02, .003) == 0,
	    "paired runs need no rounds interleaved");
	f.ratio = exp(-.001);
	n = needs_runs(&f, .02, .003);
	tap_ok(n == needs_runs(&f, .02, .05) && n > 20 && n < 60,
	    "the runs that show a change within the margin: %zu", n);
	f.ratio = 1 / .98;
	tap_ok(needs_runs(&f, .02, .05) == 0,
	    "for a change as large as the margin no number of runs is known");
	f.se = NAN;
	tap_ok(
	    needs_runs(&f, .02, .05) == 0 && isnan(needs_change(&f, .02, .05)),
	    "without a standard error no number of runs and no visible change "
	    "is known");
	f.se = .02;
	f.m = 3;
	tap_ok(isnan(needs_change(&f, .02, .05)),
	    "with three runs a side the visible change is unknown");
	f.m = f.n = 7;
	f.df = 12;
	f.serial = .5;
	tap_ok(isnan(needs_change(&f, .02, .05)),
	    "with seven autocorrelated runs the visible change is unknown");
	f.m = f.n = 8;
	tap_ok(needs_change(&f, .02, .05) > .02,
	    "with eight autocorrelated runs the visible change is known");
	/* 20 runs a side with sd .03 and r = .5 have an effective sample size
	 * of 6.9. */
	f = (struct verdict_facts){.m = 20,
	    .n = 20,
	    .ratio = exp(-.05),
	    .df = 10,
	    .serial = .5,
	    .method = "t"};
	f.wider[0] = serial_inflation(.5, 20);
	f.wider[0] = f.wider[1] = f.wider[0] * 19 / (20 - f.wider[0]);
	f.se = sqrt(2 * .03 * .03 / 20 * serial_inflation(.5, 20));
	n = needs_rounds(&f, .02, .003);
	tap_near(power_of(.05 / (.03 * sqrt(2 * (1 - .5) / (double)n)), 1000,
		     (double)n - 1, .003),
	    .83, .05,
	    "rounds interleaved: the standard deviation of a pair of "
	    "neighbours "
	    "is .03");
	tap_ok(needs_rounds(&f, .02, .05) < n, "fewer tests need fewer rounds");
	f.wider[0] = f.wider[1] = 8;
	tap_ok(needs_rounds(&f, .02, .003) == 0,
	    "no number of rounds if the effective sample size is 3");
	f = (struct verdict_facts){.m = 4, .n = 4, .method = "exact"};
	tap_ok(needs_runs(&f, .02, .05 / 100) == 6,
	    "equal values: the runs that a hundred tests need");
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

/* Holm (1979) and Benjamini & Hochberg (1995) by their definitions. */
static void
families(void)
{
	bool holm = true, bh = true;
	struct rng r;

	rng_seed(&r, 31, 0);
	for (int t = 0; t < 50; t++) {
		double p[FAMILY], a[FAMILY], b[FAMILY];

		for (int i = 0; i < FAMILY; i++)
			p[i] = rng_unit(&r) * (t % 2 ? 1 : .1);
		verdict_holm(p, a, FAMILY);
		verdict_bh(p, b, FAMILY);
		for (int i = 0; i < FAMILY; i++) {
			double most = 0, least = 1;

			for (int j = 0; j < FAMILY; j++) {
				double at_least = 0, at_most = 0;

				for (int k = 0; k < FAMILY; k++) {
					at_least += p[k] >= p[j];
					at_most += p[k] <= p[j];
				}
				if (p[j] <= p[i])
					most = fmax(most, at_least * p[j]);
				if (p[j] >= p[i])
					least = fmin(
					    least, FAMILY * p[j] / at_most);
			}
			holm = holm && fabs(a[i] - fmin(1, most)) < 1e-12;
			bh = bh && fabs(b[i] - least) < 1e-12;
		}
	}
	tap_ok(holm,
	    "p of Holm is computed from the number of p that are as large or "
	    "larger");
	tap_ok(bh,
	    "p of Benjamini and Hochberg is computed from the number of p that "
	    "are smaller");
}

int
main(void)
{
	facts();
	student();
	without_noise();
	paired();
	decisions();
	needs();
	families();
	return tap_done();
}
