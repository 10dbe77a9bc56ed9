#include "sequential.h"
#include "mem.h"
#include "tdist.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

/* Gauss-Legendre on -1..1 (Abramowitz & Stegun, table 25.4, n = 8). */
enum { NODES = 8, PANELS = 1024 };
static const double legendre_nodes[NODES / 2] = {.183434642495649805,
    .525532409916328986, .796666477413626740, .960289856497536232};
static const double legendre_weights[NODES / 2] = {.362683783378361983,
    .313706645877887287, .222381034453374471, .101228536290376259};

#define TOGETHER 1e-4 /* looks that are closer share a level */

/*
 * The sum of all runs so far as a Brownian motion at time t: nodes x, and at
 * each the density of the paths that no look has stopped, times the weight. The
 * density is symmetric, so only x >= 0 is stored.
 */
struct paths {
	double *x, *density;
	size_t n;
};

/* The alpha spent up to the fraction t of the runs; t is clamped to 0..1. */
static double
spend_alpha(double t, double alpha)
{
	return alpha * log1p((M_E - 1) * fmin(1, fmax(0, t)));
}

static double
eval_density(double z)
{
	return exp(-z * z / 2) / sqrt(2 * M_PI);
}

/* Returns the share of paths that leave -b..b in a step of standard deviation
 * s; *slope is its derivative by b. */
static double
eval_leaving(const struct paths *p, double s, double b, double *slope)
{
	double sum = 0;

	*slope = 0;
	for (size_t i = 0; i < p->n; i++) {
		double z = (b - p->x[i]) / s, y = (b + p->x[i]) / s;

		sum += p->density[i] *
		    (tdist_normal_cdf(-z) + tdist_normal_cdf(-y));
		*slope -= p->density[i] * (eval_density(z) + eval_density(y));
	}
	*slope *= 2 / s;
	return 2 * sum;
}

/* Returns the b that 'share' of the paths leave, by safeguarded Newton. */
static double
find_bound(const struct paths *p, double s, double sd, double share)
{
	double lo = 0, hi = 40 * sd, b = 2 * sd, f, slope, next;

	for (int i = 0; i < 100; i++) {
		f = eval_leaving(p, s, b, &slope) - share;
		if (f > 0)
			lo = b;
		else
			hi = b;
		next = b - f / slope;
		if (!(next > lo && next < hi))
			next = (lo + hi) / 2;
		if (fabs(next - b) <= 1e-13 * b)
			return next;
		b = next;
	}
	return b;
}

/* Returns nodes over 0..b, dense enough for a density of width s. */
static struct paths
make_grid(double b, double s)
{
	double panels = fmin(PANELS, fmax(2, ceil(b / (2 * s)))), half, mid;
	struct paths p = {.n = (size_t)panels * NODES};
	size_t at = 0;

	p.x = mem_array(p.n, sizeof *p.x);
	p.density = mem_array(p.n, sizeof *p.density);
	half = b / panels / 2;
	for (double k = 0; k < panels; k++) {
		mid = (2 * k + 1) * half;
		for (size_t i = 0; i < NODES; i++, at++) {
			size_t j = i / 2;

			p.x[at] =
			    mid + (i % 2 ? 1 : -1) * legendre_nodes[j] * half;
			p.density[at] = legendre_weights[j] * half;
		}
	}
	return p;
}

static void
free_paths(struct paths *p)
{
	free(p->x);
	free(p->density);
}

/* Returns the paths of 'p' that are within -b..b a step later; frees 'p'. */
static struct paths
step_paths(struct paths *p, double s, double b, double dense)
{
	struct paths q = make_grid(b, dense);

	for (size_t i = 0; i < q.n; i++) {
		double sum = 0;

		for (size_t k = 0; k < p->n; k++)
			sum += p->density[k] *
			    (eval_density((q.x[i] - p->x[k]) / s) +
				eval_density((q.x[i] + p->x[k]) / s));
		q.density[i] *= sum / s;
	}
	free_paths(p);
	return q;
}

/* Returns the next look with a level of its own after look i, or k. */
static size_t
find_next_look(const double *t, size_t k, size_t i)
{
	size_t next = i + 1;

	while (next < k && !(t[next] - t[i] > TOGETHER * t[next]))
		next++;
	return next;
}

void
sequential_levels(const double *t, size_t k, double alpha, double *level)
{
	struct paths p = {.n = 1};
	double s, b, spent, was = 0, before = 0;
	size_t i = 0, next;

	while (i < k && !(t[i] > 0))
		level[i++] = 0;
	p.x = mem_array(1, sizeof *p.x); /* all paths begin at 0 */
	p.density = mem_array(1, sizeof *p.density);
	p.density[0] = .5;
	for (; i < k; before = t[i], i = next) {
		next = find_next_look(t, k, i);
		spent = spend_alpha(t[i], alpha);
		s = sqrt(t[i] - before);
		b = find_bound(&p, s, sqrt(t[i]), spent - was);
		was = spent;
		for (size_t j = i; j < next; j++)
			level[j] = 2 * tdist_normal_cdf(-b / sqrt(t[i]));
		if (next < k)
			p = step_paths(&p, s, b, fmin(s, sqrt(t[next] - t[i])));
	}
	free_paths(&p);
}

size_t
sequential_looks(size_t min, size_t max, double *looks)
{
	double ratio = (double)max / (double)min, steps, v;
	size_t n = 0;

	steps = ceil(log(ratio) / log(1.5) - 1e-9);
	for (double i = 0; i <= steps; i++) {
		v = i < steps ? round((double)min * pow(ratio, i / steps))
			      : (double)max;
		if (!n || v > looks[n - 1])
			looks[n++] = v;
	}
	return n;
}
