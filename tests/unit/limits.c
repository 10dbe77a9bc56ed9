/*
 * The values at which results of the maths change: limits, levels and numbers
 * of runs, from published tables or computed again from their formulas.
 */
#include "json.h"
#include "outlier.h"
#include "precision.h"
#include "rng.h"
#include "slow.h"
#include "bimodal.h"
#include "stats.h"
#include "steady.h"
#include "str.h"
#include "tap.h"
#include "tdist.h"

#include <stdlib.h>

enum { MOST = 1000 };

/* The sequences that the authors of the generators published. */
static void
generators(void)
{
	static const uint64_t split[] = {0xe220a8397b1dcdaf, 0x6e789e6aa1b965f4,
	    0x06c45d188009454f, 0xf88bb8a8724c81ec};
	struct rng r = {.s = {1, 2, 3, 4}}, same;

	tap_ok(rng_next(&r) == 11520 && rng_next(&r) == 0 &&
		rng_next(&r) == 1509978240 &&
		rng_next(&r) == 1215971899390074240,
	    "xoshiro256** from the state 1, 2, 3, 4 is as published");
	rng_seed(&r, 0, 0);
	tap_ok(memcmp(r.s, split, sizeof split) == 0,
	    "the seed 0 gives the first numbers of splitmix64");
	rng_seed(&same, 0, 1);
	tap_ok(same.s[0] != r.s[0] && same.s[3] != r.s[3],
	    "another stream of this seed is another sequence");
	same = r = (struct rng){.s = {1, 2, 3, 4}};
	tap_near(rng_unit(&same), ldexp(11520 >> 11, -53), 1e-15,
	    "a number below 1 has the upper 53 bits");
	same = r = (struct rng){.s = {5, UINT64_C(1) << 60, 7, 8}};
	tap_near(rng_exponential(&r), -log(1 - rng_unit(&same)), 1e-12,
	    "a gap is the negative logarithm of 1 less such a number");
}

/* Rosner (1983) as the NIST handbook has him, 1.3.5.17.3: 54 values, the last
 * digit cut off. */
static void
rosner(void)
{
	static const double lambda[] = {3.158, 3.151, 3.143, 3.136, 3.128,
	    3.120, 3.111, 3.103, 3.094, 3.085};
	struct outlier o[10];
	double v[54];
	size_t looked;
	bool right = true;

	for (int i = 0; i < 54; i++)
		v[i] = tdist_normal_quantile((i + .5) / 54);
	outlier_gesd(v, 54, 10, .05, o, &looked);
	for (size_t i = 0; i < 10; i++)
		right = right && fabs(o[i].lambda - lambda[i]) < 1e-3;
	tap_ok(right && looked == 10,
	    "the limits of ten outliers are those of the handbook");
}

/* Returns the distance of the two groups that are farthest apart, in standard
 * deviations within the groups. */
static double
distance(const double *v, size_t n)
{
	size_t least = n / 5 + (n % 5 > 0);
	double best = 0, step = .02 * fabs(median_of(v, n)), added = 0;
	bool ties = false;

	for (size_t i = 1; i < n; i++) {
		ties = ties || v[i] == v[i - 1];
		if (v[i] > v[i - 1])
			step = fmin(step, v[i] - v[i - 1]);
	}
	if (ties)
		added = step * step / 12;
	for (size_t k = least; k <= n - least; k++) {
		double a = stats_mean(v, k), b = stats_mean(v + k, n - k);
		double sum = 0;

		for (size_t i = 0; i < n; i++)
			sum += pow(v[i] - (i < k ? a : b), 2);
		best =
		    fmax(best, (b - a) / sqrt(sum / ((double)n - 2) + added));
	}
	return best;
}

/* Returns the distance from which on n values, 'low' of them below, are two
 * groups. */
static double
flip(size_t n, size_t low, bool ties, struct rng *r)
{
	double noise[MOST], v[MOST], lo = 0, hi = 100;

	for (size_t i = 0; i < n; i++)
		noise[i] = 20 + rng_unit(r);
	if (ties)
		noise[1] = noise[0];
	for (int k = 0; k < 60; k++) {
		for (size_t i = 0; i < n; i++)
			v[i] = noise[i] + (i < low ? 0 : (lo + hi) / 2);
		qsort(v, n, sizeof *v, rising);
		if (bimodal_detect(v, n))
			hi = (lo + hi) / 2;
		else
			lo = (lo + hi) / 2;
	}
	return distance(v, n);
}

/* The limits, from simulations: 4.3 % of the samples of each shape of noise
 * exceed them. */
static void
groups(void)
{
	static const struct {
		size_t n;
		double limit;
	} at[] = {{10, 7.4}, {11, 6.8}, {12, 6.2}, {13, 6.2 - .35 / 3},
	    {15, 5.85}, {20, 5.27}, {25, 5.035}, {30, 4.8}, {40, 4.6},
	    {50, 4.4}, {100, 4.12}, {150, 4.02}, {200, 3.92}, {500, 3.8},
	    {750, 3.775}, {999, 3.7501}, {1000, 3.75}};
	struct rng r;

	rng_seed(&r, 12, 0);
	for (size_t i = 0; i < sizeof at / sizeof *at; i++) {
		size_t n = at[i].n;
		double half = flip(n, n / 2, false, &r);
		double fifth = flip(n, (n + 4) / 5, false, &r);
		double ties = flip(n, n / 2, true, &r);

		tap_ok(fabs(half - at[i].limit) < 1e-6 &&
			fabs(fifth - at[i].limit) < 1e-6 &&
			fabs(ties - at[i].limit) < 1e-6,
		    "%zu values are two groups from %g standard deviations on",
		    n, at[i].limit);
	}
}

/* The expected half width: normal scores (Blom 1958), or t below six. */
static double
width_of(size_t n)
{
	size_t l = stats_median_ci(n, .95, NULL);

	return l
	    ? -tdist_normal_quantile(((double)l - .375) / ((double)n + .25))
	    : tdist_quantile(.975, (double)n - 1) / sqrt((double)n);
}

/* Returns how many more runs give the wanted width, tried one by one. */
static size_t
more_of(double now, double wanted, size_t n)
{
	double goal = width_of(n) * wanted / now;
	double far = M_PI / 2 * pow(tdist_normal_quantile(.975) / goal, 2);
	size_t to = (size_t)(.8 * far) > n ? (size_t)(.8 * far) : n + 1;

	if (far >= 1000)
		return (size_t)far - n;
	while (width_of(to) > goal)
		to++;
	return to - n;
}

/* Returns how many more runs are reported to narrow an interval of n runs to
 * the wanted relative half width; -1: no number is. */
static double
more_runs(double now, double wanted, size_t n)
{
	struct variance_run *v = calloc(n, sizeof *v);
	struct precision m = {v, n, false, 1, 1, 1 - now, 1 + now};
	struct str s = {0};
	struct json *j;
	double runs;

	for (size_t i = 0; i < n; i++)
		v[i].within = NAN;
	str_addc(&s, '{');
	precision_append(&s, &m, wanted);
	str_addc(&s, '}');
	j = json_parse(s.s, s.len, NULL, NULL);
	runs = json_get_num(json_get(j, "precision"), "runs", -1);
	json_free(j);
	str_free(&s);
	free(v);
	return runs;
}

static void
widths(void)
{
	bool more = true;

	for (size_t n = 3; n < 200; n += 3)
		for (double by = 1.1; by < 30; by *= 1.7)
			more = more &&
			    more_runs(by, 1, n) == (double)more_of(by, 1, n);
	tap_ok(more,
	    "the number of further runs is the smallest that gives the wanted "
	    "width");
	/* far = pi / 2 (1.96 / goal)^2 */
	for (int i = 0; i < 2; i++) {
		double far = i ? 1.01e9 : .99e9;
		double goal = 1.959963984540054 * sqrt(M_PI / 2 / far);
		double n = more_runs(width_of(100), goal, 100);

		tap_ok(n == (i ? -1 : 989999900),
		    "more than a billion further runs are not advised: %.0f",
		    n);
	}
	tap_ok(more_runs(1, 1, 10) == 0,
	    "no further runs if the width is small enough");
	tap_ok(more_runs(INFINITY, .02, 1) == 2,
	    "one run has no interval: three have one");
}

/* The interval of Theil's slope (Hollander & Wolfe 9.3); v may have ties. */
static bool
is_trend(const double *v, size_t n, struct steady_trend t)
{
	double all[MOST], nn = (double)n, var = nn * (nn - 1) * (2 * nn + 5), m;
	size_t k = 0;

	for (size_t i = 0; i < n; i++) {
		double same = 0;

		for (size_t j = 0; j < n; j++)
			same += v[j] == v[i];
		var -= (same - 1) * (2 * same + 5);
		for (size_t j = i + 1; j < n; j++)
			all[k++] = (v[j] - v[i]) / (double)(j - i);
	}
	qsort(all, k, sizeof *all, rising);
	m = floor(((double)k - 1.959963984540054 * sqrt(var / 18)) / 2);
	if (m < 1)
		return isnan(t.lo) && isnan(t.hi);
	return t.lo == all[(size_t)m - 1] && t.hi == all[k - (size_t)m];
}

static void
courses(void)
{
	bool plain = true, tied = true, thin = true;
	double v[3 * 40 + 2], mid[40];
	struct steady_trend t;
	struct rng r;

	rng_seed(&r, 13, 0);
	for (size_t n = 4; n <= 40; n++) {
		for (size_t i = 0; i < n; i++)
			v[i] = rng_unit(&r) + .01 * (double)i;
		plain = plain && is_trend(v, n, steady_trend(v, n, 40));
		for (size_t i = 0; i < n; i++)
			v[i] = floor(5 * v[i]);
		tied = tied && is_trend(v, n, steady_trend(v, n, n));
	}
	tap_ok(plain, "the interval of a slope is by Kendall's variance");
	tap_ok(tied, "with ties the interval is narrower");
	for (size_t i = 0; i < 122; i++)
		v[i] = rng_unit(&r) + .01 * (double)i;
	for (size_t i = 0; i < 40; i++)
		mid[i] = median_of(v + 3 * i, 3);
	t = steady_trend(v, 122, 41);
	t = (struct steady_trend){3 * t.slope, 3 * t.lo, 3 * t.hi};
	thin = fabs(t.slope / steady_slope(mid, 40, 40) - 1) < 1e-12 &&
	    fabs(t.lo / steady_trend(mid, 40, 40).lo - 1) < 1e-12 &&
	    fabs(t.hi / steady_trend(mid, 40, 40).hi - 1) < 1e-12;
	tap_ok(thin,
	    "of 122 values the medians of three each are used, 41 of them");
}

/* A level of 'a' up to value 'to', and then a level of 'b'; every other value
 * is 'width' higher or lower. */
static const char *
kind(size_t to, double a, double b, double width, bool more)
{
	double v[80];

	for (size_t i = 0; i < 80; i++)
		v[i] = i < to ? a : b + (i % 2 ? width : -width);
	return steady_kind_name(steady_classify(v, 80, &to, 1, more));
}

static void
levels(void)
{
	double v[1030];
	struct steady s;

	tap_str(kind(60, 90, 100, 0, true), "warmup",
	    "a level that begins at the last quarter counts");
	tap_str(kind(61, 90, 100, 0, true), "unsteady",
	    "a level that begins later does not count");
	tap_str(
	    kind(40, 98, 100, 0, true), "flat", "a level 2 % lower is equal");
	tap_str(kind(40, 97.9, 100, 0, true), "warmup",
	    "a level 2.1 % lower is not equal");
	tap_str(kind(40, 102.1, 100, 0, true), "slowdown",
	    "a level 2.1 % higher is not equal");
	tap_str(kind(40, 110, 100, 5, true), "flat",
	    "a level that differs by the distance of the quartiles is equal");
	tap_str(kind(40, 110.1, 100, 5, true), "slowdown",
	    "a level that differs by more is not equal");
	tap_str(kind(40, -97.9, -100, 0, true), "slowdown",
	    "the 2 % are of the absolute value of the last level");
	for (int turn = 0; turn < 2; turn++) {
		double by = turn ? .041 : .040;

		for (int i = 0; i < 31; i++)
			v[i] = 100 + by * 100 * (i - 15) / 30;
		s = steady_judge(v, 31);
		tap_ok(s.verdict == (turn ? STEADY_DRIFTING : STEADY_STEADY) &&
			fabs(s.drift - .02) < .001,
		    "a drift of %.3g %% has its verdict", 100 * s.drift);
	}
	for (size_t n = 1024; n < 1030; n++) {
		for (size_t i = 0; i < n; i++)
			v[i] = (double)(i * i % 31);
		s = steady_judge(v, n);
		tap_ok(s.drift ==
			steady_drift(v + s.cut, n - s.cut,
			    steady_slope(v + s.cut, n - s.cut, 1024)),
		    "the drift of %zu values is that of up to 1024 slopes", n);
	}
}

/* The edges of the domain of the incomplete beta function. */
static void
domains(void)
{
	tap_ok(isnan(tdist_betainc(0, 1, .5)) &&
		isnan(tdist_betainc(1, 0, .5)) &&
		isnan(tdist_betainc(1, 1, -.1)) &&
		isnan(tdist_betainc(1, 1, 1.1)) &&
		tdist_betainc(1, 1, 0) == 0 && tdist_betainc(1, 1, 1) == 1,
	    "each bound of the incomplete beta function is a bound");
}

int
main(void)
{
	generators();
	rosner();
	groups();
	widths();
	courses();
	levels();
	domains();
	return tap_done();
}
