/* Variances that are moderated by those of other rows: exact values, and
 * samples whose distribution is known. */
#include "tap.h"

#include "judge/moderate.h"
#include "normal.h"
#include "rng.h"

enum { ROWS = 4000 };

/* A chi-squared number of k degrees of freedom, over k. */
static double
draw_chi2(struct rng *r, int k)
{
	double s = 0;

	for (int i = 0; i < k; i++) {
		double z = normal_draw(r);

		s += z * z;
	}
	return s / k;
}

static void
exact(void)
{
	struct moderate v[5], p;

	for (int i = 0; i < 5; i++)
		v[i] = (struct moderate){3, 4};
	p = moderate_prior(v, 5);
	/* digamma(2) is 1 - Euler's constant. */
	tap_near(p.var, 3 * exp(log(2) - (1 - .57721566490153286)), 1e-9,
	    "equal variances: the mean of a logarithm is corrected");
	tap_near(p.df, 20, 0,
	    "variances that differ less than by chance count as equal");
	p = moderate_prior(v, 2);
	tap_ok(p.df == 0, "two rows are too few for a prior");
	v[1].df = v[3].df = v[4].df = 0;
	p = moderate_prior(v, 5);
	tap_ok(p.df == 0, "rows without degrees of freedom do not count");
	p = moderate_shrink(v[0], &p);
	tap_ok(
	    p.var == 3 && p.df == 4, "without a prior no variance is changed");
	p = moderate_shrink((struct moderate){3, 4}, &(struct moderate){1, 6});
	tap_near(p.var, 1.8, 1e-12,
	    "the moderated variance is the mean by degrees of freedom");
	tap_near(p.df, 10, 0, "it has the sum of the degrees of freedom");
	p = moderate_shrink(
	    (struct moderate){NAN, 0}, &(struct moderate){1, 6});
	tap_ok(p.var == 1 && p.df == 6, "an unknown variance is the prior");
	/* F of 4 and 6 degrees of freedom: 3.181 is its 90th percentile. */
	p = moderate_shrink(
	    (struct moderate){3.17, 4}, &(struct moderate){1, 6});
	tap_near(
	    p.df, 10, 0, "a variance that one row in 10 may have is moderated");
	p = moderate_shrink(
	    (struct moderate){3.19, 4}, &(struct moderate){1, 6});
	tap_ok(
	    p.var == 3.19 && p.df == 4, "a larger variance is not moderated");
	for (int i = 0; i < 5; i++)
		v[i] = (struct moderate){i < 2 ? 0 : 2, 4};
	p = moderate_prior(v, 5);
	tap_ok(p.var > 0 && isfinite(p.var) && p.df > 0,
	    "a variance of 0 counts as the smallest variance of other rows");
	p = moderate_add((struct moderate){2, 4}, (struct moderate){1, 2});
	tap_near(p.var, 3, 1e-12, "the variance of a source is added");
	tap_near(p.df, 9 / (4. / 4 + 1. / 2), 1e-12, "Welch, Satterthwaite");
	p = moderate_add((struct moderate){2, 4}, (struct moderate){0, 0});
	tap_ok(p.var == 2 && p.df == 4, "without a source nothing is added");
}

/* Estimates the prior's df and variance from rows of 'df' whose variances
 * follow a scaled F distribution; prior 0: the true variances are equal. */
static void
check_fit(int prior, int df)
{
	static struct moderate v[ROWS];
	struct moderate p;
	struct rng r;

	rng_seed(&r, 7, (uint64_t)prior);
	for (int i = 0; i < ROWS; i++)
		v[i] = (struct moderate){.25 * draw_chi2(&r, df) /
			(prior ? draw_chi2(&r, prior) : 1),
		    df};
	p = moderate_prior(v, ROWS);
	tap_near(p.var, .25, .06, "the variance of a known prior is found");
	if (prior)
		tap_near(p.df, prior, .15 * prior,
		    "its degrees of freedom are found");
	else
		tap_ok(p.df > 40,
		    "equal variances give many degrees of freedom: %g", p.df);
}

int
main(void)
{
	exact();
	check_fit(6, 4);
	check_fit(12, 8);
	check_fit(0, 3);
	return tap_done();
}
