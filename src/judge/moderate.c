#include "moderate.h"
#include "mem.h"
#include "tdist.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#define ODD .1
#define MANY 1e6 /* degrees of freedom: that is a normal law */

/* The derivative of ln gamma, by its recurrence and its asymptotic series
 * (Abramowitz & Stegun 6.3.5, 6.3.18). x > 0. */
static double
compute_digamma(double x)
{
	double sum = 0, y;

	for (; x < 12; x++)
		sum -= 1 / x;
	y = 1 / (x * x);
	return sum + log(x) - .5 / x -
	    y * (1. / 12 - y * (1. / 120 - y * (1. / 252 - y / 240)));
}

/* The derivative of that (6.4.6, 6.4.12). x > 0. */
static double
compute_trigamma(double x)
{
	double sum = 0, y;

	for (; x < 12; x++)
		sum += 1 / (x * x);
	y = 1 / (x * x);
	return sum + 1 / x + y / 2 +
	    y / x * (1. / 6 - y * (1. / 30 - y * (1. / 42 - y / 30)));
}

/* Returns x with trigamma x = y, by bisection: trigamma falls from infinity to
 * 0, and lies between 1/x and 1/x + 1/x^2. */
static double
invert_trigamma(double y)
{
	double lo = 1 / y, hi = (1 + sqrt(1 + 4 * y)) / (2 * y);

	for (int i = 0; i < 100 && hi - lo > 1e-12 * hi; i++) {
		double mid = (lo + hi) / 2;

		if (compute_trigamma(mid) > y)
			lo = mid;
		else
			hi = mid;
	}
	return (lo + hi) / 2;
}

struct moderate
moderate_prior(const struct moderate *v, size_t n)
{
	struct moderate prior = {NAN, 0};
	double *e = mem_array(n + 1, sizeof *e), mean = 0, spread = 0;
	double total = 0, least = INFINITY;
	size_t k = 0;

	for (size_t i = 0; i < n; i++)
		if (v[i].df > 0 && v[i].var > 0)
			least = fmin(least, v[i].var);
	for (size_t i = 0; i < n; i++) {
		/* Equal values by a coarse clock: as quiet as the quietest. */
		double var = v[i].var > 0 ? v[i].var : least, half;

		if (!(v[i].df > 0) || isinf(var))
			continue;
		half = v[i].df / 2;
		e[k] = log(var) - compute_digamma(half) + log(half);
		mean += e[k++];
		spread -= compute_trigamma(half);
		total += v[i].df;
	}
	if (k >= 3) {
		mean /= (double)k;
		spread /= (double)k;
		for (size_t i = 0; i < k; i++)
			spread +=
			    (e[i] - mean) * (e[i] - mean) / (double)(k - 1);
		prior.df = spread > 0 ? 2 * invert_trigamma(spread) : INFINITY;
		prior.var = exp(mean);
		if (isfinite(prior.df))
			prior.var = exp(mean + compute_digamma(prior.df / 2) -
			    log(prior.df / 2));
		prior.df = fmin(prior.df, total);
	}
	free(e);
	return prior;
}

/* Is the variance so far above the prior that one of 10 rows of it would be?
 * The upper tail of F by the incomplete beta function (A&S 26.6.2). */
static bool
is_beyond(struct moderate own, const struct moderate *prior)
{
	double sum = own.df * own.var / prior->var + prior->df;

	return own.df > 0 &&
	    tdist_betainc(prior->df / 2, own.df / 2, prior->df / sum) < ODD;
}

struct moderate
moderate_pool(struct moderate a, struct moderate b)
{
	double df = a.df + b.df;

	if (!(a.df > 0))
		return b;
	if (!(b.df > 0))
		return a;
	return (struct moderate){(a.var * a.df + b.var * b.df) / df, df};
}

struct moderate
moderate_shrink(struct moderate own, const struct moderate *prior)
{
	return !(prior->df > 0) || is_beyond(own, prior)
	    ? own
	    : moderate_pool(own, *prior);
}

struct moderate
moderate_add(struct moderate a, struct moderate b)
{
	double sum = a.var + b.var, df;

	if (!(b.var > 0))
		return a;
	df = sum * sum / (a.var * a.var / a.df + b.var * b.var / b.df);
	return (struct moderate){sum, df > MANY ? INFINITY : df};
}
