/* The maths, on cases with published answers or answers computed by hand. */
#include "tap.h"

#include "mem.h"
#include "normal.h"
#include "rng.h"
#include "bimodal.h"
#include "stats.h"
#include "tdist.h"

#include <stdlib.h>

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
		return 100 + normal_draw(r);
	case 1:
		return 100 + rng_unit(r);
	case 2:
		return rng_exponential(r);
	default:
		return exp((shape == 3 ? .25 : 1) * normal_draw(r));
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
				v[k] = 100 + normal_draw(r) +
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

int
main(void)
{
	distributions();
	one_sample();
	shapes();
	two_groups();
	return tap_done();
}
