#include "sequential.h"
#include "mem.h"

#include <math.h>
#include <stdlib.h>

/* Nodes and weights on -1..1 (Abramowitz & Stegun, table 25.4, n = 8). */
enum { NODES = 8, PANELS = 1024 };
static const double node[NODES / 2] = {.183434642495649805, .525532409916328986,
    .796666477413626740, .960289856497536232};
static const double weight[NODES / 2] = {.362683783378361983,
    .313706645877887287, .222381034453374471, .101228536290376259};

#define TOGETHER 1e-4 /* looks that are one */

/*
 * The sum of all runs so far as a Brownian motion at time t, and the density
 * of those paths that no look has ended yet, times the weights.
 */
struct paths {
	double *x, *density;
	size_t n;
};

double
sequential_spend(double t, double alpha)
{
	return alpha * log1p((M_E - 1) * fmin(1, fmax(0, t)));
}

/* P(|Z| > z) */
static double
outside(double z)
{
	return erfc(z / sqrt(2));
}

/* The z with P(|Z| > z) = p. */
static double
bound_of(double p)
{
	double lo = 0, hi = 40, mid;

	while ((mid = (lo + hi) / 2) > lo && mid < hi)
		if (outside(mid) > p)
			lo = mid;
		else
			hi = mid;
	return mid;
}

/* What leaves -b..b in a step of standard deviation s. */
static double
leaving(const struct paths *p, double s, double b)
{
	double sum = 0;

	for (size_t i = 0; i < p->n; i++)
		sum += p->density[i] *
		    (erfc((b - p->x[i]) / (s * sqrt(2))) +
			erfc((b + p->x[i]) / (s * sqrt(2)))) /
		    2;
	return sum;
}

/* The b that 'share' of the paths leave. */
static double
bound_after(const struct paths *p, double s, double sd, double share)
{
	double lo = 0, hi = 40 * sd, mid;

	for (int i = 0; i < 60; i++) {
		mid = (lo + hi) / 2;
		if (leaving(p, s, mid) > share)
			lo = mid;
		else
			hi = mid;
	}
	return (lo + hi) / 2;
}

/* Nodes over -b..b, dense enough for what changes over a length of s. */
static struct paths
grid(double b, double s)
{
	double panels = fmin(PANELS, fmax(4, ceil(b / s))), half, mid;
	struct paths p = {.n = (size_t)panels * NODES};
	size_t at = 0;

	p.x = mem_array(p.n, sizeof *p.x);
	p.density = mem_array(p.n, sizeof *p.density);
	half = b / panels;
	for (double k = 0; k < panels; k++) {
		mid = (2 * k + 1) * half - b;
		for (size_t i = 0; i < NODES; i++, at++) {
			size_t j = i / 2;

			p.x[at] = mid + (i % 2 ? 1 : -1) * node[j] * half;
			p.density[at] = weight[j] * half;
		}
	}
	return p;
}

static void
forget(struct paths *p)
{
	free(p->x);
	free(p->density);
}

/* Those of 'p' that are within -b..b a step later; frees 'p'. */
static struct paths
step(struct paths *p, double s, double b, double dense)
{
	struct paths q = grid(b, dense);

	for (size_t i = 0; i < q.n; i++) {
		double sum = 0, z;

		for (size_t k = 0; k < p->n; k++) {
			z = (q.x[i] - p->x[k]) / s;
			sum += p->density[k] * exp(-z * z / 2);
		}
		q.density[i] *= sum / (s * sqrt(2 * M_PI));
	}
	forget(p);
	return q;
}

/* The look that follows t[i] as one of its own; k: none. */
static size_t
next_look(const double *t, size_t k, size_t i)
{
	size_t next = i + 1;

	while (next < k && !(t[next] - t[i] > TOGETHER * t[next]))
		next++;
	return next;
}

void
sequential_levels(const double *t, size_t k, double alpha, double *level)
{
	struct paths p = {0};
	double s, b, dense, was = 0;
	size_t i = 0, next, origin;

	while (i < k && !(t[i] > 0))
		level[i++] = 0;
	/* All paths begin at 0: one node. */
	p.n = 1;
	p.x = mem_array(1, sizeof *p.x);
	p.density = mem_array(1, sizeof *p.density);
	p.x[0] = 0;
	p.density[0] = 1;
	for (origin = k; i < k; origin = i, i = next) {
		double spent = sequential_spend(t[i], alpha);

		next = next_look(t, k, i);
		if (origin == k) {
			s = sqrt(t[i]);
			b = s * bound_of(spent);
		} else {
			s = sqrt(t[i] - t[origin]);
			b = bound_after(&p, s, sqrt(t[i]), spent - was);
		}
		was = spent;
		for (size_t j = i; j < next; j++)
			level[j] = outside(b / sqrt(t[i]));
		if (next == k)
			break;
		dense = fmin(s, sqrt(t[next] - t[i]));
		p = step(&p, s, b, dense);
	}
	forget(&p);
}

double
sequential_level(const double *looks, size_t k, size_t n, double alpha)
{
	double *t, *level, found;
	size_t at = 0;

	if (!k)
		return alpha;
	t = mem_array(k, sizeof *t);
	level = mem_array(k, sizeof *level);
	for (size_t i = 0; i < k; i++)
		t[i] = looks[i] / looks[k - 1];
	while (at + 1 < k && looks[at + 1] <= (double)n)
		at++;
	sequential_levels(t, k, alpha, level);
	found = level[at];
	if ((double)n > looks[at] && at + 1 < k)
		found = fmin(found, level[at + 1]);
	free(t);
	free(level);
	return found;
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
