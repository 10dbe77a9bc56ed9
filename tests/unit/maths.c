/* The maths behind verdicts and advice: small cases, edges and properties. */
#include "tap.h"

#include "hist.h"
#include "mem.h"
#include "outlier.h"
#include "normal.h"
#include "rng.h"
#include "stats.h"
#include "steady.h"
#include "tdist.h"
#include "variance.h"

#include <stdlib.h>

#define N(a) (sizeof(a) / sizeof *(a))

/* Computed with 40 digits by another program (mpmath). */
static void
distributions(void)
{
	tap_near(tdist_sf(1e300, 1), 1 / M_PI / 1e300, 1e-12,
	    "the far tail of Cauchy's distribution: 1 / (pi t)");
	tap_near(tdist_sf(40, 1000.5), 4.811699031778364e-210, 1e-11,
	    "P(T > 40), 1000.5 df");
	tap_near(tdist_sf(2, INFINITY), tdist_normal_cdf(-2), 1e-14,
	    "with infinitely many degrees of freedom it is normal");
	tap_near(tdist_quantile(1e-20, 1), -1 / M_PI / 1e-20, 1e-12,
	    "a quantile of the far tail");
	tap_near(tdist_quantile(.5 + 1e-9, 1), tan(M_PI * (.5 + 1e-9 - .5)),
	    1e-12, "a quantile near the median");
	tap_ok(isinf(tdist_quantile(1e-300, .5)),
	    "a quantile that is too large for a number");
	tap_ok(tdist_quantile(.5, 7) == 0 && isinf(tdist_quantile(1, 7)) &&
		tdist_quantile(0, 7) < 0 && isnan(tdist_quantile(1.5, 7)) &&
		isnan(tdist_quantile(.9, 0)),
	    "the ends of the t quantile");
	tap_ok(isnan(tdist_sf(NAN, 3)) && isnan(tdist_sf(1, -1)) &&
		isnan(tdist_betainc(1, 1, 2)),
	    "outside of its domain a function is NAN");
	tap_near(tdist_normal_quantile(1e-300), -37.047096299361199, 1e-12,
	    "the normal quantile of 1e-300");
	tap_near(tdist_normal_quantile(.5 + 1e-10),
	    (.5 + 1e-10 - .5) * sqrt(2 * M_PI), 1e-12,
	    "the normal quantile next to .5");
	tap_ok(isinf(tdist_normal_quantile(0)) &&
		isinf(tdist_normal_quantile(1)) &&
		isnan(tdist_normal_quantile(-1)),
	    "the ends of the normal quantile");
	tap_near(tdist_betainc(1000, 1000, .5), .5, 1e-13, "I_.5(n, n)");
	tap_near(tdist_betainc(1e5, 2, .9999),
	    exp(1e5 * log1p(-1e-4)) * (1 + 1e5 * 1e-4), 1e-11,
	    "I_x(n, 2) = x^n (1 + n (1 - x))");
}

static int
rising(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Returns the median of |x - median|, by its definition. */
static double
mad_of(const double *v, size_t n, double *room)
{
	double middle = stats_median(v, n);

	for (size_t i = 0; i < n; i++)
		room[i] = fabs(v[i] - middle);
	qsort(room, n, sizeof *room, rising);
	return stats_median(room, n);
}

static void
order(void)
{
	double v[2000], sorted[2000], want[2000], one[] = {3};
	bool right = true, middle = true, mad = true, same = true;
	struct rng r;

	rng_seed(&r, 77, 0);
	for (size_t n = 1; n <= 2000; n += n < 200 ? 1 : 97) {
		/* In turn: many ties, no ties, few large values, and nearly
		 * sorted values. */
		for (size_t i = 0; i < n; i++)
			sorted[i] = n % 4 == 0 ? (double)rng_below(&r, 7)
			    : n % 4 == 1       ? rng_unit(&r)
			    : n % 4 == 2 ? (double)(rng_below(&r, n) < 9) * 1e6
					 : (double)i + 3 * rng_unit(&r);
		memcpy(v, sorted, n * sizeof *v);
		memcpy(want, sorted, n * sizeof *v);
		qsort(want, n, sizeof *want, rising);
		stats_sort(sorted, n);
		same &= memcmp(want, sorted, n * sizeof *v) == 0;
		for (size_t k = 0; k < n; k += 1 + n / 10)
			right &= stats_select(v, n, k) == sorted[k];
		mad &= stats_mad(sorted, n) == mad_of(sorted, n, want);
		middle &= stats_middle(v, n) == stats_median(sorted, n);
	}
	tap_ok(same, "sorted in the same order as by qsort");
	tap_ok(right, "the k-th of n, sorted or selected");
	tap_ok(
	    middle, "the median of an unsorted list is that of the sorted one");
	tap_ok(mad, "the median deviation is that of a sorted list");
	tap_ok(isnan(stats_middle(v, 0)) && stats_middle(one, 1) == 3,
	    "the median of no value is NAN, of one value that value");
	for (size_t i = 0; i < 9; i++)
		v[i] = i % 3 ? (double)i : NAN;
	stats_select(v, 9, 4);
	tap_ok(true, "a selection with a value that is not a number ends");
	/* The 88 values that are sampled do not represent the other ones. */
	for (size_t i = 0; i < 2000; i++)
		v[i] = (double)i;
	for (size_t i = 0; i < 88; i++)
		v[(2 * i + 1) * 2000 / 176] = 1e9;
	memcpy(sorted, v, sizeof v);
	stats_sort(sorted, 2000);
	tap_ok(stats_middle(v, 2000) == stats_median(sorted, 2000),
	    "the median is right whatever the sample is");
}

static struct hist *
shifted(const struct hist *from, double by, int64_t lowest, int digits)
{
	struct hist *h = hist_new(lowest, 60000000, digits);
	int64_t low, high;
	uint64_t n;

	for (size_t i = 0; hist_cell(from, &i, &low, &high, &n);)
		hist_add(h, (int64_t)((double)low * by), n);
	return h;
}

static void
histograms(void)
{
	struct hist *a = hist_new(1, 1000, 3), *b = hist_new(1, 1000, 3);
	struct hist *none = hist_new(1, 1000, 3),
		    *big = hist_new(1, 60000000, 3);
	struct hist *coarse, *twice;
	struct histdiff d, e;
	struct rng r;

	hist_add(a, 10, 3);
	hist_add(a, 20, 1);
	hist_add(b, 20, 2);
	hist_add(b, 5000, 2); /* above the range */
	d = histdiff_ks(a, b);
	tap_ok(d.d == .75 && d.at == 10, "D is 3/4, at 10");
	tap_near(d.w1, .75 * 10 + .5 * 4980, 1e-12,
	    "values above the range count as the highest value");
	d = histdiff_ks(a, none);
	tap_ok(isnan(d.d) && isnan(d.w1) && isnan(histdiff_ks(none, none).d),
	    "the difference to a histogram without counts is NAN");
	rng_seed(&r, 3, 0);
	for (int i = 0; i < 20000; i++)
		hist_add(big, (int64_t)(100000 * exp(normal_draw(&r) / 4)), 1);
	d = histdiff_ks(big, big);
	tap_ok(
	    d.d == 0 && d.w1 == 0, "a histogram does not differ from itself");
	twice = shifted(big, 2, 1, 3);
	d = histdiff_ks(big, twice);
	e = histdiff_ks(twice, big);
	tap_ok(d.d == e.d && d.at == e.at && d.w1 == e.w1,
	    "swapping the sides changes nothing");
	tap_near(d.w1, hist_mean(big), 2e-3,
	    "twice as slow: the distance of the means");
	tap_near(d.d, 2 * tdist_normal_cdf(2 * log(2)) - 1, .02,
	    "twice as slow: D is that of two lognormal distributions");
	coarse = shifted(big, 1, 64, 1);
	d = histdiff_ks(big, coarse);
	tap_ok(d.d < 1e-3, "another layout makes no difference: %g", d.d);
	e = histdiff_ks(coarse, twice);
	tap_near(e.d, histdiff_ks(big, twice).d, .02,
	    "another layout does not hide a difference");
	tap_ok(histdiff_shown(1000, .99) && !histdiff_shown(999, .99) &&
		histdiff_shown(20, .5) && !histdiff_shown(0, .5),
	    "a quantile needs ten counts beyond it");
	hist_free(a);
	hist_free(b);
	hist_free(none);
	hist_free(big);
	hist_free(coarse);
	hist_free(twice);
}

/* Returns whether each outlier is the farthest of the values that are left, as
 * Rosner defines it. */
static bool
step_by_step(const double *v, size_t n, const struct outlier *o, size_t looked)
{
	double left[64], mean, sd, far, max;
	bool gone[64] = {false};

	for (size_t s = 0; s < looked; s++) {
		size_t k = 0;

		for (size_t i = 0; i < n; i++)
			if (!gone[i])
				left[k++] = v[i];
		mean = stats_mean(left, k);
		sd = stats_sd(left, k);
		far = fabs(v[o[s].at] - mean);
		max = 0;
		for (size_t i = 0; i < k; i++)
			max = fmax(max, fabs(left[i] - mean));
		if (gone[o[s].at] || far < max * (1 - 1e-9) ||
		    fabs(o[s].r - far / sd) > 1e-9 * o[s].r)
			return false;
		gone[o[s].at] = true;
	}
	return true;
}

static void
outlier_laws(void)
{
	struct outlier out[64], first[64];
	size_t same = 0, moved = 0, looked, n, k;
	double v[64], w[64];
	struct rng r;

	rng_seed(&r, 3, 0);
	for (int t = 0; t < 200; t++) {
		double scale = t % 4 == 3 ? 1e9 : 1;

		n = 3 + rng_below(&r, 60);
		for (size_t i = 0; i < n; i++) {
			v[i] = 100 +
			    (t % 2 ? normal_draw(&r) : rint(normal_draw(&r)));
			if (rng_below(&r, 8) == 0)
				v[i] *= scale * (1 + rng_unit(&r));
			w[n - 1 - i] = 8 * v[i];
		}
		k = outlier_gesd(v, n, n, .05, first, &looked);
		same += step_by_step(v, n, first, looked);
		moved += outlier_gesd(w, n, n, .05, out, &looked) == k;
	}
	tap_ok(
	    same == 200, "%zu of 200 are as if all values were tested", same);
	tap_ok(moved == 200, "order and unit do not matter: %zu", moved);
	for (size_t i = 0; i < 40; i++)
		v[i] = i % 2 ? 1 : -1;
	v[10] = v[20] = v[30] = 50;
	n = outlier_gesd(v, 40, 5, .001, out, &looked);
	tap_ok(n == 3 && out[0].at == 10 && out[1].at == 20 && out[2].at == 30,
	    "three equal outliers are found, in their order");
}

static void
outliers(void)
{
	double v[] = {1, 2, 3, 2, 1, 2, 3, 50, 2, 1, 2, 3, -40};
	double flat[] = {4, 4, 4, 4}, one[] = {4, 4, 4, 4, 5};
	struct outlier out[5];
	size_t looked;

	tap_ok(outlier_gesd(v, N(v), 3, .05, out, &looked) == 2 &&
		looked == 3 && out[0].at == 7 && out[1].at == 12,
	    "two outliers are found");
	tap_ok(outlier_gesd(v, 0, 3, .05, out, &looked) == 0 && looked == 0 &&
		outlier_gesd(v, 1, 3, .05, out, &looked) == 0 && looked == 0 &&
		outlier_gesd(v, 2, 3, .05, out, &looked) == 0 && looked == 0,
	    "zero, one and two values have no outlier");
	tap_ok(outlier_gesd(flat, 4, 3, .05, out, &looked) == 0 && looked == 0,
	    "equal values have no outlier");
	tap_ok(outlier_gesd(one, 5, 3, .05, out, &looked) == 1 && looked == 1,
	    "one value among equal ones is an outlier, and the search ends");
	v[0] = INFINITY;
	tap_ok(outlier_gesd(v, N(v), 3, .05, out, &looked) == 0 && looked == 0,
	    "values that are not finite are left out");
}

static void
courses(void)
{
	double flat[] = {0, 0}, v[2000], up[] = {1, 2, 3, 4, 5, 6}, least;
	size_t first[] = {40, 80};
	struct steady_trend t;
	struct steady s;
	struct rng r;

	rng_seed(&r, 9, 0);
	for (int i = 0; i < 120; i++)
		v[i] = 100 - 60 * exp(-i / 10.) + normal_draw(&r);
	s = steady_judge(v, 120);
	tap_ok(s.verdict == STEADY_STEADY && s.cut >= 20 && s.cut <= 60,
	    "a warm-up at the start is cut: %zu", s.cut);
	for (int i = 0; i < 120; i++)
		v[i] = 100 - .1 * i + normal_draw(&r) / 4;
	s = steady_judge(v, 120);
	tap_ok(s.verdict == STEADY_DRIFTING && s.drift < -.05,
	    "a decrease by a tenth is a drift: %g", s.drift);
	tap_ok(steady_judge(v, 29).verdict == STEADY_NONE &&
		steady_judge(v, 0).verdict == STEADY_NONE &&
		isnan(steady_judge(v, 29).drift),
	    "29 values have no verdict");
	tap_ok(steady_mser5(v, 4, &least) == 0 && isnan(least) &&
		steady_mser5(v, 0, &least) == 0 && isnan(least),
	    "four values do not make a batch of five");
	tap_ok(steady_mser5(v, 5, &least) == 0 && least == 0,
	    "five values make a batch");
	for (int i = 0; i < 100; i++)
		v[i] = 7;
	s = steady_judge(v, 100);
	tap_ok(s.cut == 0 && s.drift == 0 && s.verdict == STEADY_STEADY,
	    "equal values are steady from the start");
	for (int i = 0; i < 100; i++)
		v[i] = 0;
	tap_ok(steady_judge(v, 100).verdict == STEADY_STEADY,
	    "zeros are steady from the start");
	t = steady_trend(up, 6, 512);
	tap_ok(t.slope == 1 && t.lo == 1 && t.hi == 1, "1..6 has the slope 1");
	tap_near(steady_drift(up, 5, 1), 4. / 3, 1e-15, "by 4, over 3");
	t = steady_trend(up, 5, 512);
	tap_ok(t.slope == 1 && isnan(t.lo),
	    "the slope of five values has no interval");
	tap_ok(isnan(steady_slope(up, 1, 512)) &&
		isnan(steady_drift(flat, 2, 1)) &&
		steady_slope(up, 2, 512) == 1,
	    "two values have a slope, one value has none");
	for (int i = 0; i < 2000; i++)
		v[i] = i + 1000 + 5 * normal_draw(&r);
	t = steady_trend(v, 2000, 512);
	tap_near(t.slope, 1, 1e-3,
	    "the trend of many values is that of the medians of neighbours");
	tap_ok(steady_slope(v, 2000, 512) == t.slope,
	    "steady_slope returns the same slope");
	tap_ok(t.lo < 1 && 1 < t.hi,
	    "the interval of the trend contains the true slope");
	for (int i = 0; i < 120; i++)
		v[i] = (i < 40 ? 80 : 100) + normal_draw(&r) / 2;
	tap_str(steady_kind_name(steady_classify(v, 120, first, 1, true)),
	    "warmup", "80, then 100 requests per second");
	tap_str(steady_kind_name(steady_classify(v, 120, first, 1, false)),
	    "slowdown", "80, then 100 milliseconds");
	tap_str(steady_kind_name(steady_classify(v, 40, first, 0, true)),
	    "flat", "a single level is flat");
	first[1] = 100;
	for (int i = 100; i < 120; i++)
		v[i] -= 30;
	tap_str(steady_kind_name(steady_classify(v, 120, first, 2, true)),
	    "unsteady", "the level changes in the last quarter");
	for (int i = 0; i < 120; i++)
		v[i] = (i < 40 ? 100 : 101) + normal_draw(&r) / 2;
	tap_str(steady_kind_name(steady_classify(v, 120, first, 1, true)),
	    "flat", "1 %% is not another level");
}

static double
of(const struct variance_run *v, size_t n, enum variance_source s)
{
	struct variance_part p[VARIANCE_SOURCES];

	variance_split(v, n, p);
	return p[s].var;
}

static double
square_sd(const double *v, size_t n)
{
	return stats_sd(v, n) * stats_sd(v, n);
}

static void
splits(void)
{
	/* A session of two runs and one of three, computed by hand. */
	struct variance_run v[] = {{1, NAN, 1, 0}, {3, NAN, 1, 0},
	    {5, NAN, 2, 0}, {7, NAN, 2, 0}, {3, NAN, 2, 0}};
	struct variance_run equal[] = {
	    {5, .5, 1, 1}, {5, .5, 1, 1}, {5, .5, 2, 1}, {5, .5, 2, 1}};
	struct variance_run single[] = {
	    {1, .1, 1, 0}, {2, .1, 2, 0}, {3, .1, 3, 0}, {4, .1, 4, 0}};
	struct variance_run many[600], other[600];
	struct variance_part p[VARIANCE_SOURCES], q[VARIANCE_SOURCES];
	double machine = 0, session = 0, half, before, flat[10] = {0};
	double saw[] = {1, -1, 1, -1, 1, -1, 1, -1}, block[100];
	struct rng r;

	variance_split(v, 5, p);
	/* SS: 2 (2 - 3.8)^2 + 3 (5 - 3.8)^2 = 10.8; 2 + 8 = 10, / 3. */
	tap_near(p[VARIANCE_RESTART].var, 10. / 3, 1e-14,
	    "the variance within groups");
	tap_near(p[VARIANCE_SESSION].var, (10.8 - 10. / 3) / (5 - 13. / 5),
	    1e-14, "the variance between groups of two and three");
	tap_ok(p[VARIANCE_SESSION].n == 2 && p[VARIANCE_RESTART].n == 5 &&
		p[VARIANCE_MACHINE].n == 1 && p[VARIANCE_WITHIN].n == 0,
	    "the numbers of sessions, runs and machines");
	tap_ok(isnan(p[VARIANCE_MACHINE].var) && isnan(p[VARIANCE_WITHIN].var),
	    "one machine gives no variance between machines");
	variance_split(equal, 4, p);
	tap_ok(p[VARIANCE_RESTART].var == 0 && p[VARIANCE_RESTART].below &&
		p[VARIANCE_SESSION].var == 0 && p[VARIANCE_WITHIN].var == .5,
	    "a variance below that within runs is 0 and marked as below");
	variance_split(equal, 0, p);
	tap_ok(isnan(p[0].var) && isnan(p[1].var) && isnan(p[2].var) &&
		isnan(p[3].var) && isnan(variance_of_mean(p)),
	    "no runs give no variance");
	variance_split(equal, 1, p);
	tap_ok(isnan(p[VARIANCE_RESTART].var) && p[VARIANCE_RESTART].n == 1 &&
		isnan(p[VARIANCE_WITHIN].var),
	    "one run gives no variance between runs");
	variance_split(single, 4, p);
	tap_near(p[VARIANCE_SESSION].var + p[VARIANCE_WITHIN].var, 5. / 3,
	    1e-14,
	    "with sessions of one run each the variance within is counted "
	    "once");
	tap_near(variance_of_mean(p), 5. / 12, 1e-14,
	    "the variance of the mean is s^2 / n");
	rng_seed(&r, 21, 0);
	for (size_t i = 0; i < 600; i++) {
		if (i % 60 == 0)
			machine = 3 * normal_draw(&r);
		if (i % 10 == 0)
			session = 2 * normal_draw(&r);
		many[i] = (struct variance_run){
		    100 + machine + session + normal_draw(&r), .25, i / 10,
		    i / 60};
	}
	variance_split(many, 600, p);
	tap_ok(sqrt(p[VARIANCE_MACHINE].var) > 1.5 &&
		sqrt(p[VARIANCE_MACHINE].var) < 5 &&
		sqrt(p[VARIANCE_SESSION].var) > 1.5 &&
		sqrt(p[VARIANCE_SESSION].var) < 2.5,
	    "standard deviation 3 between machines, 2 between sessions: %.2f, "
	    "%.2f",
	    sqrt(p[VARIANCE_MACHINE].var), sqrt(p[VARIANCE_SESSION].var));
	tap_near(p[VARIANCE_RESTART].var + p[VARIANCE_WITHIN].var, 1, .15,
	    "variance 1 between runs, a quarter of it within runs");
	for (size_t i = 0; i < 600; i++) {
		other[i] = many[599 - i];
		other[i].value = 1000 - 10 * other[i].value;
		other[i].within *= 100;
	}
	variance_split(other, 600, q);
	for (int i = 0; i < VARIANCE_SOURCES; i++)
		tap_near(q[i].var, 100 * p[i].var, 1e-9,
		    variance_source_name((enum variance_source)i));
	before = 1.959963984540054 * sqrt(variance_of_mean(p));
	half = before / 2;
	tap_ok(variance_needed(p, VARIANCE_MACHINE, half * 1.0001, .95) == 40,
	    "half the width needs four times the machines");
	tap_ok(variance_needed(p, VARIANCE_RESTART, half, .95) == 0,
	    "no number of runs on those machines is enough");
	tap_ok(variance_needed(p, VARIANCE_MACHINE, before * 1.0001, .95) == 10,
	    "for the present width the present number of machines is enough");
	tap_ok(isnan(of(many, 10, VARIANCE_SESSION)) &&
		of(many, 10, VARIANCE_RESTART) > 0,
	    "of ten runs of one session only the variance of runs is known");
	tap_ok(isnan(variance_within(saw, 7)) && variance_within(flat, 10) == 0,
	    "seven intervals are too few; equal intervals have no noise");
	tap_near(variance_within(saw, 8), 1. / 7, 1e-14,
	    "neighbours that alternate do not reduce the variance below s^2 / "
	    "n");
	for (int i = 0; i < 100; i++)
		block[i] = i % 10 ? block[i - 1] : normal_draw(&r);
	tap_ok(variance_within(block, 100) > 4 * square_sd(block, 100) / 100,
	    "autocorrelated neighbours increase the variance");
	/* z sqrt(p / n) = half: n = p (z / half)^2 */
	p[VARIANCE_MACHINE] = (struct variance_part){1, 5, false};
	for (int i = 1; i < VARIANCE_SOURCES; i++)
		p[i] = (struct variance_part){NAN, 0, false};
	half = 1.959963984540054 / sqrt(999999999 - .5);
	tap_ok(variance_needed(p, VARIANCE_MACHINE, half, .95) == 999999999 &&
		variance_needed(p, VARIANCE_MACHINE,
		    1.959963984540054 / sqrt(1e9 - .5), .95) == 0,
	    "a billion machines are not advised");
	tap_ok(variance_needed(p, VARIANCE_MACHINE, 0, .95) == 0 &&
		variance_needed(p, VARIANCE_MACHINE, 100, .95) == 1,
	    "no number of machines gives a width of 0, and one machine is the "
	    "least");
	p[VARIANCE_MACHINE].var = 0;
	tap_ok(variance_needed(p, VARIANCE_MACHINE, 1, .95) == 1 &&
		variance_needed(p, VARIANCE_MACHINE, 0, .95) == 0,
	    "without noise one machine is enough");
	variance_split(v, 5, p);
	tap_ok(variance_needed(p, VARIANCE_MACHINE, 1, .95) == 0,
	    "with one machine the number that is needed is unknown");
}

int
main(void)
{
	distributions();
	order();
	histograms();
	outliers();
	outlier_laws();
	courses();
	splits();
	return tap_done();
}
