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

/* The sorted values of one side, and the rank of each value of the input. */
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
compare_by_value(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	return (x->v > y->v) - (x->v < y->v);
}

static struct side
make_side(const double *v, size_t n)
{
	struct side s = {.n = n};
	struct place *p = mem_array(n, sizeof *p);

	s.v = mem_array(n, sizeof *s.v);
	s.rank = mem_array(n, sizeof *s.rank);
	s.drawn = mem_array(n, sizeof *s.drawn);
	s.times = mem_array(n, sizeof *s.times);
	for (size_t i = 0; i < n; i++)
		p[i] = (struct place){v[i], i};
	qsort(p, n, sizeof *p, compare_by_value);
	for (size_t i = 0; i < n; i++) {
		s.v[i] = p[i].v;
		s.rank[p[i].at] = i;
	}
	free(p);
	return s;
}

static void
free_side(struct side *s)
{
	free(s->v);
	free(s->rank);
	free(s->drawn);
	free(s->times);
}

/* Returns the median of the drawn values, by counting instead of sorting. */
static double
compute_drawn_median(struct side *s)
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

/* Returns the median of the sorted values without the i-th. */
static double
compute_median_without(const struct side *s, size_t i)
{
	size_t n = s->n - 1, lo = (n - 1) / 2, hi = n / 2;
	double a = s->v[lo + (lo >= i)], b = s->v[hi + (hi >= i)];

	return n % 2 ? b : a / 2 + b / 2;
}

/* The two sides of one case. */
struct pair {
	struct side x, y;
	bool paired;
};

static double
compute_ratio(const struct pair *p)
{
	return stats_median(p->y.v, p->y.n) / stats_median(p->x.v, p->x.n);
}

struct sums {
	double squares, cubes;
};

/* Adds the influences of n values; j[i] is the statistic without value i. */
static void
add_influences(struct sums *s, const double *j, size_t n)
{
	double mean = stats_mean(j, n), l;

	for (size_t i = 0; i < n; i++) {
		l = (mean - j[i]) * (double)(n - 1) / (double)n;
		s->squares += l * l;
		s->cubes += l * l * l;
	}
}

/* Adds the influences of one of k cases whose geometric mean is 'all'. */
static void
jackknife_case(struct sums *s, const struct pair *p, double all, size_t k)
{
	size_t m = p->x.n, n = p->y.n;
	double *j = mem_array(m + n, sizeof *j), now = compute_ratio(p), v;
	double x = stats_median(p->x.v, m), y = stats_median(p->y.v, n);

	for (size_t i = 0; i < m; i++) {
		size_t at = p->x.rank[i];

		v = p->paired ? compute_median_without(&p->y, p->y.rank[i]) : y;
		v /= compute_median_without(&p->x, at);
		j[i] = k == 1 ? v : all * pow(v / now, 1 / (double)k);
	}
	for (size_t i = 0; i < n; i++) {
		v = compute_median_without(&p->y, i) / x;
		j[m + i] = k == 1 ? v : all * pow(v / now, 1 / (double)k);
	}
	add_influences(s, j, m);
	if (!p->paired)
		add_influences(s, j + m, n);
	free(j);
}

/* Returns the quantile of the resampled ratios that BCa takes instead of q. */
static double
compute_end_level(const struct bootstrap *r, double q)
{
	double z = r->z0 + tdist_normal_quantile(q), room = 1 - r->a * z;

	if (!(room > 0)) /* beyond all resampled ratios */
		return z > 0;
	return tdist_normal_cdf(r->z0 + z / room);
}

static bool
is_usable(const double *v, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!(v[i] > 0 && isfinite(v[i])))
			return false;
	return n >= BOOTSTRAP_LEAST;
}

static void
clear_result(struct bootstrap *r)
{
	*r = (struct bootstrap){NAN, NAN, NAN, NAN, NAN};
}

/* Sets r->lo and r->hi from t, the resampled values of r->est; sorts t. */
static void
compute_interval(struct bootstrap *r, double *t, size_t draws,
    const struct sums *s, double conf)
{
	double below = 0;

	for (size_t i = 0; i < draws; i++)
		below += t[i] < r->est ? 1 : t[i] == r->est ? .5 : 0;
	stats_sort(t, draws);
	/* Half a draw on each side keeps the normal quantile finite. */
	below = fmin(fmax(below, .5), (double)draws - .5);
	r->z0 = tdist_normal_quantile(below / (double)draws);
	r->a = s->squares > 0 ? s->cubes / (6 * pow(s->squares, 1.5)) : 0;
	r->lo = stats_quantile(t, draws, compute_end_level(r, (1 - conf) / 2));
	r->hi = stats_quantile(t, draws, compute_end_level(r, (1 + conf) / 2));
}

static struct pair
make_pair(const struct bootstrap_pair *p)
{
	return (struct pair){
	    make_side(p->x, p->m), make_side(p->y, p->n), p->paired};
}

static void
free_pair(struct pair *p)
{
	free_side(&p->x);
	free_side(&p->y);
}

static void
draw_runs(struct rng *rng, struct pair *p)
{
	for (size_t i = 0; i < p->x.n; i++)
		p->x.drawn[i] = rng_below(rng, p->x.n);
	for (size_t i = 0; i < p->y.n; i++)
		p->y.drawn[i] =
		    p->paired ? p->x.drawn[i] : rng_below(rng, p->y.n);
}

/* Adds the logarithm of the resampled ratio of a case to each t[i]. */
static void
resample_case(double *t, const char *name, const struct bootstrap_pair *in,
    struct pair *p)
{
	unsigned long long seed = str_hash(STR_HASH, name, strlen(name));
	struct rng rng;

	seed = str_hash(seed, in->x, in->m * sizeof *in->x);
	seed = str_hash(seed, in->y, in->n * sizeof *in->y);
	rng_seed(&rng, seed, 0);
	for (size_t i = 0; i < BOOTSTRAP_DRAWS; i++) {
		draw_runs(&rng, p);
		t[i] += log(
		    compute_drawn_median(&p->y) / compute_drawn_median(&p->x));
	}
}

int
bootstrap_geomean(const char *name, const struct bootstrap_pair *v, size_t k,
    double conf, struct bootstrap *r)
{
	struct sums s = {0, 0};
	double *t, sum = 0;

	clear_result(r);
	for (size_t i = 0; i < k; i++)
		if (!is_usable(v[i].x, v[i].m) || !is_usable(v[i].y, v[i].n))
			return -1;
	if (!k)
		return -1;
	t = mem_array(BOOTSTRAP_DRAWS, sizeof *t);
	for (size_t i = 0; i < BOOTSTRAP_DRAWS; i++)
		t[i] = 0;
	for (size_t i = 0; i < k; i++) {
		struct pair p = make_pair(&v[i]);

		sum += log(compute_ratio(&p));
		resample_case(t, name, &v[i], &p);
		free_pair(&p);
	}
	r->est = exp(sum / (double)k);
	for (size_t i = 0; i < k; i++) {
		struct pair p = make_pair(&v[i]);

		jackknife_case(&s, &p, r->est, k);
		free_pair(&p);
	}
	for (size_t i = 0; i < BOOTSTRAP_DRAWS; i++)
		t[i] = exp(t[i] / (double)k);
	compute_interval(r, t, BOOTSTRAP_DRAWS, &s, conf);
	free(t);
	return 0;
}
