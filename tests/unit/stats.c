/* The maths, on cases with published answers or answers computed by hand. */
#include "tap.h"

#include "mem.h"
#include "ranktest.h"
#include "rng.h"
#include "bimodal.h"
#include "stats.h"
#include "tdist.h"
#include "needs.h"
#include "judge/verdict.h"

#include <stdlib.h>

/* Box and Muller (1958). */
static double
normal(struct rng *r)
{
	return sqrt(2 * rng_exponential(r)) * cos(2 * M_PI * rng_unit(r));
}

#define N(a) (sizeof(a) / sizeof *(a))

static void
distributions(void)
{
	tap_near(tdist_normal_quantile(.975), 1.959963984540054, 1e-14,
	    "normal quantile .975");
	tap_near(tdist_normal_cdf(-1.959963984540054), .025, 1e-14,
	    "normal cdf, its inverse");
	tap_near(tdist_quantile(.975, 1), 12.706204736174694, 1e-12,
	    "t quantile, 1 df: tan(pi .475)");
	tap_near(tdist_quantile(.975, 5), 2.570581835636314, 1e-12,
	    "t quantile, 5 df");
	tap_near(tdist_sf(1, 1), .25, 1e-14, "P(T > 1), 1 df");
	tap_near(tdist_sf(-1, 1), .75, 1e-14, "P(T > -1), 1 df");
	tap_ok(tdist_sf(INFINITY, 3) == 0, "P(T > infinity)");
	tap_near(tdist_betainc(2, 3, .4), .5248, 1e-14,
	    "I_.4(2, 3) = P(Bin(4, .4) >= 2)");
}

static void
one_sample(void)
{
	double v[] = {2, 4, 4, 4, 5, 5, 7, 9}, c[] = {3, 3, 3}, conf;
	double wild[] = {1, 2, 3, 4, 100};

	tap_near(stats_mean(v, N(v)), 5, 1e-15, "mean");
	tap_near(stats_sd(v, N(v)), sqrt(32. / 7), 1e-15, "sd, ddof 1");
	tap_ok(isnan(stats_sd(v, 1)), "one value has no standard deviation");
	tap_ok(stats_sd(c, N(c)) == 0, "equal values have sd 0");
	tap_near(stats_median(v, N(v)), 4.5, 1e-15, "median of eight");
	tap_near(stats_quantile(v, N(v), .25), 4, 1e-15, "first quartile");
	tap_near(stats_quantile(v, N(v), .9), 7.6, 1e-14, "type 7 at .9");
	tap_near(stats_mad(v, N(v)), .5, 1e-15, "MAD");
	tap_near(stats_mad(wild, N(wild)), 1, 1e-15, "MAD of five");
	tap_ok(stats_mad(c, N(c)) == 0, "MAD of equal values");
	tap_ok(stats_modified_z(100, 3, 1) > 10, "an outlier");
	tap_ok(isinf(stats_modified_z(4, 3, 0)),
	    "a value beside a MAD of 0 has an infinite z");
	tap_ok(stats_modified_z(3, 3, 0) == 0,
	    "a value equal to the median has a z of 0 with a MAD of 0");
	tap_ok(
	    stats_median_ci(5, .95, &conf) == 0, "five runs have no interval");
	tap_ok(stats_median_ci(6, .95, &conf) == 1 && conf == .96875,
	    "the interval of six runs is from the first to the last, 96.875 "
	    "%%");
	tap_ok(stats_median_ci(10, .95, &conf) == 2,
	    "the interval of ten runs begins with the second");
	tap_ok(stats_median_ci(1000000, .95, &conf) == 499020,
	    "the interval of a million runs begins with number 499020");
}

static void
ranks(void)
{
	/* A case with ties for which benchstat prints p = 0. */
	double x[] = {2, 1, 3, 5}, y[] = {1, 1, 1, 1, 1};
	double a[] = {1, 2, 3}, b[] = {4, 5, 6}, flat[] = {7, 7, 7};
	double d[] = {1, 2, 3, 4, 5, 6}, none[] = {0, 0, 0};
	double holes[] = {NAN, 1, 2};
	/* Hollander & Wolfe 4.1: water transfer at term and before. */
	double term[] = {
	    .80, .83, 1.89, 1.04, 1.45, 1.38, 1.91, 1.64, .73, 1.46};
	double early[] = {1.15, .88, .90, .74, 1.21}, lo, hi;
	struct ranktest t = ranktest_mwu(x, N(x), y, N(y));
	struct ranktest_pairs *p;

	tap_near(t.p, 6. / 126, 1e-15, "the exact tied test: 6/126");
	tap_ok(t.exact, "the tied test is exact");
	t = ranktest_mwu(a, 3, b, 3);
	tap_ok(t.stat == 9, "U = 9 if every value of the contender is higher");
	tap_near(t.p, .1, 1e-15, "the smallest p of three a side is .1");
	tap_near(t.p_min, .1, 1e-15,
	    "the smallest possible p of three a side is .1");
	t = ranktest_mwu(flat, 3, flat, 3);
	tap_ok(t.p == 1, "all values equal: p = 1");
	t = ranktest_mwu(early, N(early), term, N(term));
	tap_ok(t.stat == 35, "Hollander & Wolfe: W = 35");
	tap_near(t.p, 2 * .1272061272, 1e-9, "the two-sided p is .2544");
	t = ranktest_signed(d, 6);
	tap_near(t.p, 2. / 64, 1e-15, "six pairs up: p = 2/64");
	t = ranktest_signed(none, 3);
	tap_ok(t.p == 1 && t.n == 0, "no differences: p = 1");
	tap_ok(ranktest_mwu(holes, 3, holes, 3).n == 6,
	    "the test of values with NAN ends");
	p = ranktest_ratios(a, 3, b, 3);
	tap_near(
	    ranktest_pairs_median(p), 2.5, 1e-15, "the median of the ratios");
	tap_ok(!ranktest_pairs_ci(p, .95, &lo, &hi),
	    "three a side have no 95%% interval");
	tap_ok(ranktest_pairs_ci(p, .90, &lo, &hi),
	    "three a side have a 90%% interval: 1/20 is .05");
	ranktest_pairs_free(p);
	tap_near(ranktest_cliff(9, 3, 3), 1, 1e-15, "Cliff's delta");
}

static void
shapes(void)
{
	double up[] = {1, 2, 3, 4, 5, 6, 7, 8}, saw[] = {1, -1, 1, -1, 1, -1};
	double halves[] = {98, 99, 100, 100, 101, 109, 110, 110, 111, 112};
	double few[] = {98, 99, 100, 101, 102, 103, 104, 120, 121, 122};
	double flat[] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
	double two_values[] = {9, 9, 9, 9, 9, 9, 9, 10, 10, 10};
	double clock[] = {99, 99, 99, 99, 99, 100, 100, 100, 100, 100};

	tap_near(stats_lag1(up, 8), .625, 1e-12, "lag 1 of 1..8");
	tap_near(
	    stats_lag1(saw, 6), -5. / 6, 1e-12, "lag 1 of alternating values");
	tap_ok(isnan(stats_lag1(up, 3)), "three values have no lag 1");
	tap_ok(bimodal_detect(halves, 10), "two halves are two groups");
	tap_ok(bimodal_detect(few, 10), "seven and three are two groups");
	tap_ok(
	    !bimodal_detect(up, 8), "equally spaced values are not two groups");
	tap_ok(!bimodal_detect(flat, 10), "equal values are not two groups");
	tap_ok(bimodal_detect(two_values, 10), "two values are two groups");
	tap_ok(!bimodal_detect(clock, 10),
	    "steps of a coarse clock are not two groups");
}

/* One value of noise that has one mode: normal, uniform, exponential, and
 * lognormal of small and of large sigma. */
static double
draw_noise(struct rng *r, int shape)
{
	switch (shape) {
	case 0:
		return 100 + normal(r);
	case 1:
		return 100 + rng_unit(r);
	case 2:
		return rng_exponential(r);
	default:
		return exp((shape == 3 ? .25 : 1) * normal(r));
	}
}

enum { NOISE = 5, TWO_POINTS = 5, UNEQUAL = 6 };

/* Returns how many of 1,000 samples of n values look like two groups. */
static int
count_bimodal(struct rng *r, int shape, size_t n)
{
	double v[1000];
	int two = 0;

	for (int i = 0; i < 1000; i++) {
		for (size_t k = 0; k < n; k++)
			if (shape < NOISE)
				v[k] = draw_noise(r, shape);
			else
				v[k] = 100 + normal(r) +
				    6 *
					(rng_unit(r) <
					    (shape == UNEQUAL ? .3 : .5));
		stats_sort(v, n);
		two += bimodal_detect(v, n);
	}
	return two;
}

static void
two_groups(void)
{
	static const char *const names[] = {"normal", "uniform", "exponential",
	    "lognormal", "very skewed lognormal", "two equal groups",
	    "two unequal groups"};
	static const size_t sizes[] = {10, 14, 20, 40, 100, 400, 1000};
	struct rng r;

	rng_seed(&r, 11, 0);
	for (int shape = 0; shape <= UNEQUAL; shape++) {
		int before = 200;

		for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
			int two = count_bimodal(&r, shape, sizes[i]);

			if (shape < NOISE)
				tap_ok(two <= 50,
				    "%s noise seldom looks like two groups: "
				    "%d of 1000 with %zu values",
				    names[shape], two, sizes[i]);
			else
				tap_ok(two > before || two >= 990,
				    "%s are found more often with more values: "
				    "%d of 1000 with %zu values",
				    names[shape], two, sizes[i]);
			before = two;
		}
	}
}

/* All values computed and sorted, or searched for: the same order
 * statistics. */
static void
many(void)
{
	enum { M = 1100, K = 1000, W = 1500 };
	double *x = mem_array(W, sizeof *x), *y = mem_array(W, sizeof *y);
	double *all = mem_array(W * (W + 1) / 2, sizeof *all), lo, hi;
	struct ranktest_pairs *p;
	struct rng r;
	size_t k = 0;

	rng_seed(&r, 7, 0);
	for (size_t i = 0; i < W; i++) {
		x[i] = exp(normal(&r) / 9);
		y[i] = exp(normal(&r) / 9);
	}
	p = ranktest_ratios(x, M, y, K);
	for (size_t i = 0; i < M; i++)
		for (size_t j = 0; j < K; j++)
			all[k++] = y[j] / x[i];
	stats_sort(all, k);
	tap_ok(ranktest_pairs_median(p) == stats_median(all, k),
	    "the median of 1.1 million ratios");
	tap_ok(ranktest_pairs_ci(p, .95, &lo, &hi) && lo < hi && lo > .98 &&
		hi < 1.02,
	    "the interval of 1.1 million ratios holds 1");
	ranktest_pairs_free(p);
	p = ranktest_walsh(x, 0);
	tap_ok(isnan(ranktest_pairs_median(p)),
	    "without pairs there is no median");
	ranktest_pairs_free(p);
	p = ranktest_walsh(x, W);
	k = 0;
	for (size_t i = 0; i < W; i++)
		for (size_t j = i; j < W; j++)
			all[k++] = (x[i] + x[j]) / 2;
	stats_sort(all, k);
	tap_ok(ranktest_pairs_median(p) == stats_median(all, k),
	    "the median of 1.1 million Walsh averages");
	ranktest_pairs_free(p);
	free(x);
	free(y);
	free(all);
}

static void
families(void)
{
	double p[] = {.01, .02, .03, .04, .05}, q[5];

	verdict_holm(p, q, 5);
	tap_ok(fabs(q[0] - .05) < 1e-15 && fabs(q[4] - .09) < 1e-15,
	    "Holm, as R's p.adjust");
	verdict_bh(p, q, 5);
	tap_ok(fabs(q[0] - .05) < 1e-15 && fabs(q[4] - .05) < 1e-15,
	    "Benjamini-Hochberg, as R's p.adjust");
	tap_ok(power_least_runs(false, 1, .05) == 4 &&
		power_least_runs(false, 10, .05) == 6 &&
		power_least_runs(false, 100, .05) == 8,
	    "a side: 4 runs for one test, 6 for ten, 8 for a hundred");
	tap_ok(power_least_runs(true, 1, .05) == 6 &&
		power_least_runs(true, 10, .05) == 9 &&
		power_least_runs(true, 100, .05) == 12 &&
		power_least_runs(true, 1, ldexp(1, -599)) == 600 &&
		power_least_runs(false, 1, 1e-250) == 419 &&
		power_least_runs(false, 1, 0) == SIZE_MAX,
	    "rounds: 6 for one test, 9 for ten, 12 for a hundred");
}

static enum verdict
judge(const double *x, size_t m, const double *y, size_t n,
    enum metric_better better, bool paired, bool *certain)
{
	struct verdict_facts f = verdict_measure(x, m, y, n, paired);

	return verdict_decide(&f, better, .02, f.p, .05, certain);
}

static void
verdicts(void)
{
	double x[] = {100, 101, 99, 100.5, 99.5, 100.2};
	double low[] = {90, 91, 89, 90.5, 89.5, 90.2};
	double near_[] = {100.1, 100.9, 99.1, 100.4, 99.6, 100.3};
	double wide[] = {80, 120, 95, 130, 70, 101};
	double c[] = {100, 100, 100, 100}, cl[] = {70, 70, 70, 70};
	double zero[] = {0, 0, 0, 0}, half[] = {0, 100, 0, 101};
	double ci[] = {99.5, 99.5, 99.5, 99.5};
	double up[] = {100, 99, 100, 98, 100, 97};
	double down[] = {99, 100, 98, 97, 96, 99};
	struct verdict_facts f;
	bool certain;

	tap_ok(judge(x, 6, low, 6, METRIC_HIGHER, false, &certain) ==
		    VERDICT_REGRESSION &&
		certain,
	    "-10%% is a certain regression");
	tap_ok(judge(x, 6, low, 6, METRIC_LOWER, false, &certain) ==
		VERDICT_IMPROVEMENT,
	    "-10%% is an improvement where less is better");
	tap_ok(judge(x, 6, low, 6, METRIC_NEITHER, false, &certain) ==
		VERDICT_DIFFERENT,
	    "-10%% is different where neither is better");
	tap_ok(judge(x, 6, near_, 6, METRIC_HIGHER, false, &certain) ==
		VERDICT_EQUIVALENT,
	    "nearly equal values are equivalent");
	tap_ok(judge(x, 6, wide, 6, METRIC_HIGHER, false, &certain) ==
		VERDICT_INCONCLUSIVE,
	    "a noisy difference is inconclusive");
	tap_ok(judge(x, 3, low, 3, METRIC_HIGHER, false, &certain) ==
		VERDICT_INSUFFICIENT,
	    "three runs are too few");
	tap_ok(judge(wide, 6, wide, 6, METRIC_HIGHER, false, &certain) ==
		VERDICT_INCONCLUSIVE,
	    "two noisy samples with equal values are inconclusive");
	tap_ok(judge(wide, 6, wide, 6, METRIC_HIGHER, true, &certain) ==
		VERDICT_EQUIVALENT,
	    "two noisy samples that are equal pair by pair are equivalent");
	f = verdict_measure_same(wide, 6, false);
	tap_ok(verdict_decide(&f, METRIC_HIGHER, .02, f.p, .05, &certain) ==
		VERDICT_EQUIVALENT,
	    "a noisy measurement is equivalent to itself");
	tap_ok(judge(c, 4, cl, 4, METRIC_HIGHER, false, &certain) ==
		    VERDICT_REGRESSION &&
		certain,
	    "zero variance: 100 to 70 is a regression");
	f = verdict_measure(c, 4, cl, 4, false);
	tap_near(f.p, 2. / 256, 1e-14,
	    "p of two sides without noise, as with a coarse clock: 2/2^8");
	tap_ok(verdict_decide(&f, METRIC_HIGHER, .02, .06, .05, &certain) ==
		VERDICT_LIKELY_REGRESSION,
	    "with more tests this is a likely regression");
	tap_ok(needs_runs(&f, .02, .05 / 100) == 6,
	    "with 100 tests six runs a side are enough");
	tap_ok(judge(c, 4, ci, 4, METRIC_HIGHER, false, &certain) ==
		VERDICT_EQUIVALENT,
	    "zero variance: 100 to 99.5 is within the margin");
	tap_ok(judge(c, 4, zero, 4, METRIC_HIGHER, false, &certain) ==
		VERDICT_REGRESSION,
	    "down to zero is a regression");
	tap_ok(judge(zero, 4, c, 4, METRIC_HIGHER, false, &certain) ==
		VERDICT_IMPROVEMENT,
	    "up from zero is an improvement");
	f = verdict_measure(zero, 4, c, 4, false);
	tap_ok(isnan(f.ratio), "up from zero has no ratio");
	tap_ok(judge(zero, 4, c, 4, METRIC_LOWER, false, &certain) ==
		VERDICT_REGRESSION,
	    "up from zero is a regression of a latency");
	tap_ok(judge(zero, 4, zero, 4, METRIC_HIGHER, false, &certain) ==
		VERDICT_EQUIVALENT,
	    "no change from zero is equivalent");
	f = verdict_measure(c, 3, c, 4, false);
	tap_ok(isnan(f.p) && f.ratio == 1,
	    "3 equal values against 4: there is no test");
	f = verdict_measure(zero, 4, zero, 3, false);
	tap_ok(
	    isnan(f.p) && f.ratio == 1, "4 zeros against 3: there is no test");
	f = verdict_measure(half, 4, c, 4, false);
	tap_ok(isnan(f.ratio) && !isnan(f.p),
	    "a side with some zeros has a p, but no ratio");
	f = verdict_measure(x, 6, low, 6, true);
	tap_near(f.p, 2. / 64, 1e-15, "paired: signed rank");
	tap_str(
	    f.method, "signed-rank", "paired runs have the method signed-rank");
	f = verdict_measure(up, 6, down, 6, true);
	tap_near(f.p, 30. / 64, 1e-15, "99 to 100 counts as much as 100 to 99");
	f = verdict_measure(down, 6, up, 6, true);
	tap_near(f.p, 30. / 64, 1e-15, "100 to 99 counts as much as 99 to 100");
}

int
main(void)
{
	distributions();
	one_sample();
	shapes();
	two_groups();
	ranks();
	many();
	families();
	verdicts();
	return tap_done();
}
