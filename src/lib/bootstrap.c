#include "bootstrap.h"
#include "mem.h"
#include "rng.h"
#include "stats.h"
#include "str.h"
#include "tdist.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* One side: its values sorted, and where each value of the input went. */
struct side {
	double *v;
	size_t *rank, *drawn, *times;
	size_t n;
};

struct place {
	double v;
	size_t at;
};

static int
by_value(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	return (x->v > y->v) - (x->v < y->v);
}

static struct side
side_new(const double *v, size_t n)
{
	struct side s = {.n = n};
	struct place *p = mem_array(n, sizeof *p);

	s.v = mem_array(n, sizeof *s.v);
	s.rank = mem_array(n, sizeof *s.rank);
	s.drawn = mem_array(n, sizeof *s.drawn);
	s.times = mem_array(n, sizeof *s.times);
	for (size_t i = 0; i < n; i++)
		p[i] = (struct place){v[i], i};
	qsort(p, n, sizeof *p, by_value);
	for (size_t i = 0; i < n; i++) {
		s.v[i] = p[i].v;
		s.rank[p[i].at] = i;
	}
	free(p);
	return s;
}

static void
side_free(struct side *s)
{
	free(s->v);
	free(s->rank);
	free(s->drawn);
	free(s->times);
}

/* The median of what was drawn, by counting: no sort for each draw. */
static double
drawn_median(struct side *s)
{
	size_t seen = 0, i = 0, low;

	memset(s->times, 0, s->n * sizeof *s->times);
	for (size_t k = 0; k < s->n; k++)
		s->times[s->rank[s->drawn[k]]]++;
	while (seen + s->times[i] < (s->n + 1) / 2)
		seen += s->times[i++];
	low = i;
	while (seen + s->times[i] < s->n / 2 + 1)
		seen += s->times[i++];
	return s->n % 2 ? s->v[low] : s->v[low] / 2 + s->v[i] / 2;
}

/* The median of the sorted values without the i-th. */
static double
median_without(const struct side *s, size_t i)
{
	size_t n = s->n - 1, lo = (n - 1) / 2, hi = n / 2;
	double a = s->v[lo + (lo >= i)], b = s->v[hi + (hi >= i)];

	return n % 2 ? b : a / 2 + b / 2;
}

/* Adds the squares and cubes of the jackknife's influences of one side. */
static void
influences(const struct side *s, double other, bool below, double *squares,
    double *cubes)
{
	double *j = mem_array(s->n, sizeof *j), mean, l;

	for (size_t i = 0; i < s->n; i++) {
		j[i] = median_without(s, i);
		j[i] = below ? other / j[i] : j[i] / other;
	}
	mean = stats_mean(j, s->n);
	for (size_t i = 0; i < s->n; i++) {
		l = (mean - j[i]) * (double)(s->n - 1) / (double)s->n;
		*squares += l * l;
		*cubes += l * l * l;
	}
	free(j);
}

static double
acceleration(const struct side *x, const struct side *y)
{
	double squares = 0, cubes = 0;

	influences(x, stats_median(y->v, y->n), true, &squares, &cubes);
	influences(y, stats_median(x->v, x->n), false, &squares, &cubes);
	return squares > 0 ? cubes / (6 * pow(squares, 1.5)) : 0;
}

/* Which part of the resampled ratios lies below this end of the interval. */
static double
end(const struct bootstrap *r, double q)
{
	double z = r->z0 + tdist_normal_quantile(q), room = 1 - r->a * z;

	if (!(room > 0)) /* further than any of them */
		return z > 0;
	return tdist_normal_cdf(r->z0 + z / room);
}

static bool
usable(const double *v, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!(v[i] > 0 && isfinite(v[i])))
			return false;
	return n >= BOOTSTRAP_LEAST;
}

int
bootstrap_bca(const double *x, size_t m, const double *y, size_t n, double conf,
    size_t draws, void (*draw)(void *, size_t *, size_t, size_t *, size_t),
    void *arg, struct bootstrap *r)
{
	struct side sx, sy;
	double *t, below = 0;

	*r = (struct bootstrap){NAN, NAN, NAN, NAN, NAN};
	if (!usable(x, m) || !usable(y, n))
		return -1;
	sx = side_new(x, m);
	sy = side_new(y, n);
	t = mem_array(draws, sizeof *t);
	r->est = stats_median(sy.v, n) / stats_median(sx.v, m);
	for (size_t i = 0; i < draws; i++) {
		draw(arg, sx.drawn, m, sy.drawn, n);
		t[i] = drawn_median(&sy) / drawn_median(&sx);
		below += t[i] < r->est ? 1 : t[i] == r->est ? .5 : 0;
	}
	stats_sort(t, draws);
	/* Not beyond the half of a draw: the normal quantile is finite. */
	below = fmin(fmax(below, .5), (double)draws - .5);
	r->z0 = tdist_normal_quantile(below / (double)draws);
	r->a = acceleration(&sx, &sy);
	r->lo = stats_quantile(t, draws, end(r, (1 - conf) / 2));
	r->hi = stats_quantile(t, draws, end(r, (1 + conf) / 2));
	free(t);
	side_free(&sx);
	side_free(&sy);
	return 0;
}

static void
at_random(void *arg, size_t *ix, size_t m, size_t *iy, size_t n)
{
	for (size_t i = 0; i < m; i++)
		ix[i] = rng_below(arg, m);
	for (size_t i = 0; i < n; i++)
		iy[i] = rng_below(arg, n);
}

int
bootstrap_ratio(const char *name, const double *x, size_t m, const double *y,
    size_t n, double conf, struct bootstrap *r)
{
	unsigned long long seed = str_hash(STR_HASH, name, strlen(name));
	struct rng rng;

	seed = str_hash(seed, x, m * sizeof *x);
	seed = str_hash(seed, y, n * sizeof *y);
	rng_seed(&rng, seed, 0);
	return bootstrap_bca(
	    x, m, y, n, conf, BOOTSTRAP_DRAWS, at_random, &rng, r);
}
