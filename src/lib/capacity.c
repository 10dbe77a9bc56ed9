#include "capacity.h"
#include "mem.h"

#include <math.h>
#include <stdlib.h>

#define STEP .004  /* of the grid, in ln(rate) */
#define GUESS .005 /* trials that hold though the rate is far too high */
#define SPREAD .7  /* of the prior: most capacities are near the start */

/* How gradually the limit is reached; each is as likely as the others. */
static const double slopes[] = {.0015, .004, .01, .025, .06, .15, .35};

/* Shares of trials that are disturbed, and how likely each share is. */
static const struct {
	double share, prior;
} lapses[] = {{.02, .6}, {.1, .3}, {.25, .1}};

enum {
	SLOPES = sizeof slopes / sizeof *slopes,
	LAPSES = sizeof lapses / sizeof *lapses,
	LEAST = 8 /* trials before the interval may end the search */
};

struct capacity {
	double first; /* ln(rate) of node 0 */
	size_t nodes;
	double *p;     /* [(slope * LAPSES + lapse) * nodes + node] */
	double *m;     /* the posterior of the capacity, sums to 1 */
	double *holds; /* [slope * (2 * nodes) + nodes + node - trial] */
	size_t trials, held;
};

/* Computes the posterior of the capacity; the whole posterior sums to 1. */
static void
sum_posterior(struct capacity *c)
{
	double all = 0;
	size_t i, k;

	for (i = 0; i < c->nodes; i++)
		c->m[i] = 0;
	for (k = 0; k < SLOPES * LAPSES; k++)
		for (i = 0; i < c->nodes; i++)
			c->m[i] += c->p[k * c->nodes + i];
	for (i = 0; i < c->nodes; i++)
		all += c->m[i];
	for (i = 0; i < c->nodes; i++)
		c->m[i] /= all;
	for (i = 0; i < SLOPES * LAPSES * c->nodes; i++)
		c->p[i] /= all;
}

struct capacity *
capacity_new(double start)
{
	struct capacity *c = mem_new(sizeof *c);
	double far, *p;
	size_t s, l, i;

	c->first = log(start / CAPACITY_DOWN);
	c->nodes =
	    (size_t)(log((double)CAPACITY_DOWN * CAPACITY_UP) / STEP) + 1;
	c->m = mem_array(c->nodes, sizeof *c->m);
	p = c->p = mem_array(SLOPES * LAPSES * c->nodes, sizeof *c->p);
	c->holds = mem_array(SLOPES * 2 * c->nodes, sizeof *c->holds);
	for (s = 0; s < SLOPES; s++)
		for (l = 0; l < LAPSES; l++)
			for (i = 0; i < c->nodes; i++) {
				far =
				    (c->first + STEP * (double)i - log(start)) /
				    SPREAD;
				*p++ = lapses[l].prior / (1 + far * far);
			}
	for (s = 0; s < SLOPES; s++)
		for (i = 0; i < 2 * c->nodes; i++)
			c->holds[s * 2 * c->nodes + i] = 1 /
			    (1 +
				exp(STEP * ((double)c->nodes - (double)i) /
				    slopes[s]));
	sum_posterior(c);
	return c;
}

void
capacity_free(struct capacity *c)
{
	if (!c)
		return;
	free(c->p);
	free(c->m);
	free(c->holds);
	free(c);
}

/* Returns a quantile of the posterior of the capacity, as place on the grid. */
static double
find_quantile(const struct capacity *c, double q)
{
	double sum = 0;
	size_t i;

	for (i = 0; i + 1 < c->nodes && sum + c->m[i] < q; i++)
		sum += c->m[i];
	return (double)i - .5 + (c->m[i] > 0 ? (q - sum) / c->m[i] : .5);
}

static double
get_rate(const struct capacity *c, double node)
{
	return exp(c->first + STEP * node);
}

double
capacity_next(const struct capacity *c)
{
	/* Trials on both sides of the median also show the slope. */
	static const double quantiles[] = {.5, .2, .8};
	struct capacity_answer a = capacity_answer(c);

	if (c->trials == CAPACITY_TRIALS ||
	    (c->trials >= LEAST &&
		a.high / a.low < (1 + CAPACITY_WIDTH) / (1 - CAPACITY_WIDTH)))
		return 0;
	return get_rate(c, round(find_quantile(c, quantiles[c->trials % 3])));
}

void
capacity_add(struct capacity *c, double rate, bool held)
{
	double at = fmax(0, round((log(rate) - c->first) / STEP));
	size_t node = (size_t)fmin(at, (double)(c->nodes - 1)), s, l, i;
	double *p = c->p, hold;

	for (s = 0; s < SLOPES; s++)
		for (l = 0; l < LAPSES; l++)
			for (i = 0; i < c->nodes; i++) {
				hold = c->holds[s * 2 * c->nodes + c->nodes +
				    i - node];
				hold = GUESS +
				    (1 - GUESS - lapses[l].share) * hold;
				*p++ *= held ? hold : 1 - hold;
			}
	c->trials++;
	c->held += held;
	sum_posterior(c);
}

struct capacity_answer
capacity_answer(const struct capacity *c)
{
	return (struct capacity_answer){
	    .rate = get_rate(c, find_quantile(c, .5)),
	    .low = get_rate(c, find_quantile(c, .025)),
	    .high = get_rate(c, find_quantile(c, .975)),
	    .trials = c->trials,
	    .held = c->held};
}
