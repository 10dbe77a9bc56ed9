#include "samplesize.h"
#include "family.h"
#include "moderate.h"
#include "needs.h"
#include "verdict.h"

#include <math.h>
#include <stdbool.h>

/* The level of the primary metrics; all cases have other judged ones as well.
 */
static double
find_level(void)
{
	return family_level(FAMILY_PRIMARY, true, false);
}

static size_t
count_tests(const struct samplesize *s)
{
	return s->cases * (s->builds > 1 ? s->builds - 1 : 1);
}

/*
 * Returns the prior that moderate_prior is expected to find for c cases of
 * equal noise. It estimates the variance of their log variances, 2/df, with a
 * relative error of about 1/sqrt(c), and takes such an error for different
 * noise.
 */
static struct moderate
expect_prior(const struct samplesize *s, struct moderate noise)
{
	double c = (double)s->cases;

	/* moderate_prior needs three variances. */
	return (struct moderate){
	    noise.var, s->cases < 3 ? 0 : noise.df * sqrt(c)};
}

double
samplesize_visible_change(const struct samplesize *s, size_t runs)
{
	double level =
	    family_next_level(find_level(), count_tests(s), 0, false);
	double var = 2 * s->noise * s->noise;
	/* The smallest p of signed ranks. */
	double least = exp2(1 - (double)runs);
	bool ranked = least <= family_rank_limit(find_level(), count_tests(s));
	struct verdict_facts f = {.m = runs,
	    .n = runs,
	    .paired = true,
	    .change = 0,
	    .p_min = ranked ? least : 0,
	    .wider = {1, 1},
	    .noise = {{var, (double)runs - 1}}};
	struct moderate prior = {var, 0};

	if (runs < VERDICT_RUNS)
		return NAN;
	if (!ranked)
		prior = expect_prior(s, f.noise[0]);
	verdict_set_error(&f, &prior);
	return needs_planned_change(&f, s->margin, level);
}

size_t
samplesize_find_runs(
    const struct samplesize *s, double change, size_t least, size_t most)
{
	while (least < most && !(samplesize_visible_change(s, least) <= change))
		least++;
	return least;
}
