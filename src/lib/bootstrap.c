#include "bootstrap.h"
#include "mem.h"
#include "rng.h"
#include "stats.h"
#include "str.h"
#include "tdist.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The values of one side, and room for as many. */
struct side {
	const double *v;
	double *sorted, *drawn;
	size_t n;
};

static struct side
make_side(const double *v, size_t n)
{
	return (struct side){.v = v,
	    .sorted = stats_sorted(v, n),
	    .drawn = mem_array(n, sizeof(double)),
	    .n = n};
}

/* Returns the median of the values without one that is 'out'. */
static double
compute_median_without(const struct side *s, double out)
{
	size_t n = s->n - 1, lo = (n - 1) / 2, hi = n / 2;
	double a = s->sorted[lo + (s->sorted[lo] >= out)];
	double b = s->sorted[hi + (s->sorted[hi] >= out)];

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
	return stats_median(p->y.sorted, p->y.n) /
	    stats_median(p->x.sorted, p->x.n);
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
	double x = stats_median(p->x.sorted, m);
	double y = stats_median(p->y.sorted, n);

	for (size_t i = 0; i < m; i++) {
		v = p->paired ? compute_median_without(&p->y, p->y.v[i]) : y;
		v /= compute_median_without(&p->x, p->x.v[i]);
		j[i] = k == 1 ? v : all * pow(v / now, 1 / (double)k);
	}
	for (size_t i = 0; i < n; i++) {
		v = compute_median_without(&p->y, p->y.v[i]) / x;
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
	free(p->x.sorted);
	free(p->x.drawn);
	free(p->y.sorted);
	free(p->y.drawn);
}

static void
draw_runs(struct rng *rng, struct pair *p)
{
	for (size_t i = 0; i < p->x.n; i++) {
		size_t at = rng_below(rng, p->x.n);

		p->x.drawn[i] = p->x.v[at];
		if (p->paired)
			p->y.drawn[i] = p->y.v[at];
	}
	for (size_t i = 0; i < p->y.n && !p->paired; i++)
		p->y.drawn[i] = p->y.v[rng_below(rng, p->y.n)];
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
		t[i] += log(stats_middle(p->y.drawn, p->y.n) /
		    stats_middle(p->x.drawn, p->x.n));
	}
}

int
bootstrap_geomean(const char *name, const struct bootstrap_pair *v, size_t k,
    double conf, struct bootstrap *r)
{
	struct sums s = {0, 0};
	double *t, sum = 0;

	*r = (struct bootstrap){NAN, NAN, NAN, NAN, NAN};
	for (size_t i = 0; i < k; i++)
		if (!is_usable(v[i].x, v[i].m) || !is_usable(v[i].y, v[i].n))
			return -1;
	if (!k)
		return -1;
	t = mem_array(BOOTSTRAP_DRAWS, sizeof *t);
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
