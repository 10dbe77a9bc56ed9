/*
 * The bias-corrected and accelerated interval of a bootstrap (Efron 1987), the
 * slow and obvious way, for tests.
 */
#ifndef SLOWBCA_H
#define SLOWBCA_H

#include "bootstrap.h"
#include "slow.h"
#include "tdist.h"

#include <math.h>
#include <stdint.h>

enum { MOST = 48 };

static double
ratio_of(const struct bootstrap_pair *p)
{
	return median_of(p->y, p->n) / median_of(p->x, p->m);
}

static size_t
copy_without(double *to, const double *v, size_t n, size_t left_out)
{
	size_t k = 0;

	for (size_t i = 0; i < n; i++)
		if (i != left_out)
			to[k++] = v[i];
	return k;
}

/* Adds the squares and cubes of the influences of n jackknife values. */
static void
add_influences(const double *j, size_t n, double *squares, double *cubes)
{
	double mean = 0;

	for (size_t i = 0; i < n; i++)
		mean += j[i] / (double)n;
	for (size_t i = 0; i < n; i++) {
		double l = (mean - j[i]) * (double)(n - 1) / (double)n;

		*squares += l * l;
		*cubes += l * l * l;
	}
}

/* The geometric mean with case c without its i-th value of x, y, or both. */
static double
mean_without(const struct bootstrap_pair *v, size_t k, size_t c, size_t from_x,
    size_t from_y)
{
	double x[MOST], y[MOST], sum = 0;

	for (size_t i = 0; i < k; i++) {
		struct bootstrap_pair p = v[i];

		if (i == c) {
			p.m = copy_without(x, p.x, p.m, from_x);
			p.n = copy_without(y, p.y, p.n, from_y);
			p.x = x;
			p.y = y;
		}
		sum += log(ratio_of(&p));
	}
	return exp(sum / (double)k);
}

static double
acceleration(const struct bootstrap_pair *v, size_t k)
{
	double squares = 0, cubes = 0, j[MOST];

	for (size_t c = 0; c < k; c++) {
		for (size_t i = 0; i < v[c].m; i++)
			j[i] = mean_without(
			    v, k, c, i, v[c].paired ? i : SIZE_MAX);
		add_influences(j, v[c].m, &squares, &cubes);
		for (size_t i = 0; i < v[c].n && !v[c].paired; i++)
			j[i] = mean_without(v, k, c, SIZE_MAX, i);
		if (!v[c].paired)
			add_influences(j, v[c].n, &squares, &cubes);
	}
	return cubes / (6 * pow(squares, 1.5));
}

/* Efron (1987): the quantile of t that is the end for q. */
static double
end_of(const double *t, size_t draws, double z0, double a, double q)
{
	double z = z0 + tdist_normal_quantile(q);
	double h = tdist_normal_cdf(z0 + z / (1 - a * z)) * (double)(draws - 1);
	size_t i = (size_t)h;

	return t[i] + (h - (double)i) * (t[i + 1] - t[i]);
}

/* The interval of the geometric mean of k ratios, by the resampled means t,
 * which are sorted here. */
static struct bootstrap
slow_bca(const struct bootstrap_pair *v, size_t k, double *t, size_t draws,
    double conf)
{
	struct bootstrap b = {.est = mean_without(v, k, k, 0, 0)};
	double below = 0;

	qsort(t, draws, sizeof *t, rising);
	for (size_t i = 0; i < draws; i++)
		below += fabs(t[i] / b.est - 1) < 1e-13 ? .5 : t[i] < b.est;
	b.z0 = tdist_normal_quantile(below / (double)draws);
	b.a = acceleration(v, k);
	b.lo = end_of(t, draws, b.z0, b.a, (1 - conf) / 2);
	b.hi = end_of(t, draws, b.z0, b.a, (1 + conf) / 2);
	return b;
}

#endif
