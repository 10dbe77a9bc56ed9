#include "samplesize.h"
#include "family.h"
#include "moderate.h"
#include "ranktest.h"
#include "rng.h"
#include "tdist.h"
#include "verdict.h"

#include <math.h>
#include <stdbool.h>

#define POWER .8

enum {
	DRAWS = 1000,    /* simulated comparisons */
	SIMULATED = 50,  /* with more rounds, t is as good as signed ranks */
	BISECTIONS = 14, /* 0.05 % of a doubling */
};

/* The level of the primary metrics; all cases have other judged ones as well.
 */
static double
find_level(void)
{
	return family_level(FAMILY_PRIMARY, true);
}

static size_t
count_tests(const struct samplesize *s)
{
	return s->cases * (s->builds > 1 ? s->builds - 1 : 1);
}

/*
 * The prior that noise of one size in all c cases suggests. The variance of the
 * log variances, 2/df, is known to about 1/sqrt(c) of itself, so that it may
 * seem to differ so much between cases.
 */
static struct moderate
expect_prior(const struct samplesize *s, struct moderate noise)
{
	double c = (double)s->cases;

	/* moderate_prior needs three variances. */
	return (struct moderate){
	    noise.var, s->cases < 3 ? 0 : noise.df * sqrt(c)};
}

/* Returns the sum of the ranks of one sign that signed ranks may have at most
 * for a p below 'level'; -1: there is none. */
static int
find_critical_sum(int n, double level)
{
	double d[SIMULATED];

	for (int sum = 0; sum <= n * (n + 1) / 2; sum++) {
		int left = sum;

		for (int i = n; i > 0; i--) {
			d[i - 1] = left >= i ? -i : i;
			left -= left >= i ? i : 0;
		}
		if (!(ranktest_signed(d, (size_t)n).p < level))
			return sum - 1;
	}
	return n * (n + 1) / 2;
}

/* Returns how often the negative ones of n values around 'mean', of standard
 * deviation 1, have ranks of at most this sum. */
static double
simulate_power(int n, double mean, int critical)
{
	int found = 0;
	struct rng r;

	rng_seed(&r, 1, 0);
	for (int k = 0; k < DRAWS; k++) {
		double d[SIMULATED];
		int sum = 0;

		for (int i = 0; i < n; i++) /* Box and Muller (1958) */
			d[i] = mean +
			    sqrt(2 * rng_exponential(&r)) *
				cos(2 * M_PI * rng_unit(&r));
		for (int i = 0; i < n; i++)
			for (int j = 0; j < n && d[i] < 0; j++)
				sum += fabs(d[j]) <= -d[i];
		found += sum <= critical;
	}
	return (double)found / DRAWS;
}

/* Returns ln of the change that signed ranks find at this level. */
static double
find_ranked_change(int n, double sd, double level)
{
	int critical = find_critical_sum(n, level);
	double lo = 0, hi = 8; /* deviations */

	for (int i = 0; i < BISECTIONS; i++) {
		double mean = (lo + hi) / 2;

		if (simulate_power(n, mean, critical) < POWER)
			lo = mean;
		else
			hi = mean;
	}
	return hi * sd;
}

double
samplesize_visible_change(const struct samplesize *s, size_t runs)
{
	double level =
	    family_next_level(find_level(), count_tests(s), 0, false);
	double var = 2 * s->noise * s->noise, change;
	struct verdict_facts f = {.m = runs,
	    .n = runs,
	    .paired = true,
	    .change = 0,
	    .wider = {1, 1},
	    .noise = {{var, (double)runs - 1}}};
	/* The smallest p of signed ranks is 2^(1-n). */
	bool ranked = exp2(1 - (double)runs) <=
	    family_rank_limit(find_level(), count_tests(s));
	struct moderate prior = {var, 0};

	if (runs < VERDICT_RUNS)
		return NAN;
	if (!ranked)
		prior = expect_prior(s, f.noise[0]);
	verdict_set_error(&f, &prior);
	change = verdict_visible_change(&f, s->margin, level);
	if (ranked && runs <= SIMULATED)
		change = fmax(change,
		    -expm1(-find_ranked_change((int)runs, sqrt(var), level)));
	return change;
}

size_t
samplesize_find_runs(
    const struct samplesize *s, double change, size_t least, size_t most)
{
	while (least < most && !(samplesize_visible_change(s, least) <= change))
		least++;
	return least;
}
