/*
 * What rests on chance, computed again the slow and obvious way with the same
 * random numbers: the bootstrap of a ratio, and the permutations of a step.
 */
#include "bootstrap.h"
#include "energy.h"
#include "rng.h"
#include "slow.h"
#include "tap.h"
#include "tdist.h"

#include <stdint.h>
#include <stdlib.h>

enum { MOST = 48, PERMUTATIONS = 999 };

/* FNV-1a, 64 bit, as its authors give it. */
static uint64_t
fnv(uint64_t h, const void *data, size_t n)
{
	for (size_t i = 0; i < n; i++)
		h = (h ^ ((const unsigned char *)data)[i]) * 1099511628211u;
	return h;
}

#define FNV_START 14695981039346656037u

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

/* The geometric means of the resampled ratios, in order. */
static void
draw_all(double *t, const char *name, const struct bootstrap_pair *v, size_t k)
{
	for (size_t i = 0; i < BOOTSTRAP_DRAWS; i++)
		t[i] = 0;
	for (size_t c = 0; c < k; c++) {
		uint64_t h = fnv(FNV_START, name, strlen(name));
		double x[MOST], y[MOST];
		size_t at[MOST];
		struct rng r;

		h = fnv(h, v[c].x, v[c].m * sizeof(double));
		h = fnv(h, v[c].y, v[c].n * sizeof(double));
		rng_seed(&r, h, 0);
		for (size_t i = 0; i < BOOTSTRAP_DRAWS; i++) {
			for (size_t q = 0; q < v[c].m; q++) {
				at[q] = rng_below(&r, v[c].m);
				x[q] = v[c].x[at[q]];
			}
			for (size_t q = 0; q < v[c].n; q++)
				y[q] =
				    v[c].y[v[c].paired ? at[q]
						       : rng_below(&r, v[c].n)];
			t[i] +=
			    log(median_of(y, v[c].n) / median_of(x, v[c].m)) /
			    (double)k;
		}
	}
	for (size_t i = 0; i < BOOTSTRAP_DRAWS; i++)
		t[i] = exp(t[i]);
	qsort(t, BOOTSTRAP_DRAWS, sizeof *t, rising);
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

static void
check_bootstrap(const char *what, const struct bootstrap_pair *v, size_t k)
{
	static double t[BOOTSTRAP_DRAWS];
	double below = 0, z0, a = acceleration(v, k), est;
	struct bootstrap b;

	est = mean_without(v, k, k, 0, 0);
	bootstrap_geomean("rps", v, k, .9, &b);
	draw_all(t, "rps", v, k);
	for (size_t i = 0; i < BOOTSTRAP_DRAWS; i++)
		below += fabs(t[i] / est - 1) < 1e-13 ? .5 : t[i] < est;
	z0 = tdist_normal_quantile(below / BOOTSTRAP_DRAWS);
	printf("# %s: z0 %g, a %g\n", what, z0, a);
	tap_near(b.est, est, 1e-12, "the geometric mean is that of medians");
	tap_near(b.a, a, 1e-9, "the acceleration follows the jackknife");
	tap_near(b.z0, z0, .002, "the bias is the part of draws below");
	tap_near(b.lo, end_of(t, BOOTSTRAP_DRAWS, b.z0, a, .05), 1e-9,
	    "the lower end is the quantile that Efron's formula gives");
	tap_near(b.hi, end_of(t, BOOTSTRAP_DRAWS, b.z0, a, .95), 1e-9,
	    "so is the upper end");
}

/* The k-th draw is the first of x and the k-th of y, again and again. */
static void
draw_one(void *arg, size_t *ix, size_t m, size_t *iy, size_t n)
{
	size_t *k = arg;

	for (size_t i = 0; i < m; i++)
		ix[i] = 0;
	for (size_t i = 0; i < n; i++)
		iy[i] = *k;
	++*k;
}

static void
check_draws(const struct bootstrap_pair *p)
{
	double t[] = {.887, .892, .9, .933, .99}, a = acceleration(p, 1);
	double broken[] = {90, 0, 89, 99, 88};
	struct bootstrap b;
	size_t k = 0;

	tap_ok(bootstrap_bca(p->x, p->m, p->y, p->n, .5, 5, draw_one, &k, &b) ==
		    0 &&
		fabs(b.est - 90 / 99.55) < 1e-12,
	    "the draws may come from elsewhere");
	tap_near(b.z0, tdist_normal_quantile(.6), 1e-12,
	    "three of five draws are below the ratio");
	tap_near(b.a, a, 1e-9, "the acceleration is that of the values");
	tap_near(b.lo, end_of(t, 5, b.z0, a, .25), 1e-9,
	    "the lower end lies between two of five draws");
	tap_near(
	    b.hi, end_of(t, 5, b.z0, a, .75), 1e-9, "so does the upper end");
	tap_ok(
	    bootstrap_bca(p->x, p->m, broken, 5, .5, 5, draw_one, &k, &b) < 0 &&
		isnan(b.est) &&
		bootstrap_bca(broken, 5, p->y, p->n, .5, 5, draw_one, &k, &b) <
		    0 &&
		isnan(b.hi),
	    "a zero on either side has no ratio");
}

static void
bootstraps(void)
{
	static const double x[] = {100, 101.5, 97, 100.9, 99.1, 108, 98.8, 96},
			    y[] = {90, 93.3, 89.2, 99, 88.7},
			    z[] = {50, 61, 52, 57, 47.5, 80, 49, 51};
	const struct bootstrap_pair one = {x, y, 8, 5, false},
				    other = {y, x, 5, 8, false},
				    paired = {x, z, 8, 8, true};
	const struct bootstrap_pair two[] = {one, paired};

	check_bootstrap("eight against five", &one, 1);
	check_bootstrap("five against eight", &other, 1);
	check_bootstrap("eight pairs", &paired, 1);
	check_bootstrap("both cases", two, 2);
	check_draws(&one);
}

/* The sum of |a_i - b_k|. */
static double
distances(const double *a, size_t m, const double *b, size_t n)
{
	double sum = 0;

	for (size_t i = 0; i < m; i++)
		for (size_t k = 0; k < n; k++)
			sum += fabs(a[i] - b[k]);
	return sum;
}

/* Matteson & James (2014), as they write it: nm / (n + m) times the energy. */
static double
q_of(const double *a, size_t m, const double *b, size_t n)
{
	double mm = (double)m, nn = (double)n;
	double e = 2 / (mm * nn) * distances(a, m, b, n);

	if (m > 1)
		e -= distances(a, m, a, m) / (mm * (mm - 1));
	if (n > 1)
		e -= distances(b, n, b, n) / (nn * (nn - 1));
	return mm * nn / (mm + nn) * e;
}

static double
largest_q(const double *x, size_t n)
{
	double best = -INFINITY;

	for (size_t t = 1; t < n; t++)
		best = fmax(best, q_of(x, t, x + t, n - t));
	return best;
}

static size_t
block_of(const double *x, size_t n, size_t at)
{
	double res[MOST], mean = 0, own = 0, next = 0, r;
	double a = median_of(x, at), b = median_of(x + at, n - at);

	for (size_t i = 0; i < n; i++) {
		res[i] = x[i] - (i < at ? a : b);
		mean += res[i] / (double)n;
	}
	for (size_t i = 0; i < n; i++) {
		own += (res[i] - mean) * (res[i] - mean);
		if (i)
			next += (res[i] - mean) * (res[i - 1] - mean);
	}
	r = next / own;
	if (r < .1)
		return 1;
	r = ceil(pow(2 * r / (1 - r * r), 2. / 3) * cbrt((double)n));
	return n < 8 ? 1 : (size_t)fmin(r, floor((double)n / 8));
}

static uint64_t
seed_of(const double *x, size_t n)
{
	uint64_t h = FNV_START;

	for (size_t i = 0; i < n; i++) {
		uint64_t rank = 0;

		for (size_t k = 0; k < n; k++)
			rank += x[k] < x[i];
		h = fnv(h, &rank, sizeof rank);
	}
	return h;
}

/* Cuts x into blocks, the first of a random length, and shuffles them. */
static void
shuffle_blocks(
    double *to, const double *x, size_t n, size_t length, struct rng *r)
{
	size_t first = length > 1 ? 1 + rng_below(r, length) : 1, k = 0;
	size_t from[MOST], size[MOST], order[MOST], count = 0, at = 0;

	while (at < n) {
		from[count] = at;
		size[count] = at ? length : first;
		if (size[count] > n - at)
			size[count] = n - at;
		order[count] = count;
		at += size[count++];
	}
	for (size_t i = count; i > 1; i--) {
		size_t j = rng_below(r, i), swap = order[i - 1];

		order[i - 1] = order[j];
		order[j] = swap;
	}
	for (size_t i = 0; i < count; i++)
		for (size_t j = 0; j < size[order[i]]; j++)
			to[k++] = x[from[order[i]] + j];
}

static struct energy_split
slow_chance(const double *x, size_t n, size_t at, double limit)
{
	double q = largest_q(x, n), moved[MOST];
	size_t length = block_of(x, n, at), good = 0, tried = 0;
	struct energy_split d = {1, at, at};
	struct rng r;

	for (size_t t = 1; t < n; t++)
		if (q_of(x, t, x + t, n - t) >= .95 * q) {
			d.lo = t < d.lo ? t : d.lo;
			d.hi = t > d.hi ? t : d.hi;
		}
	rng_seed(&r, seed_of(x, n), 0);
	for (; tried < PERMUTATIONS && (double)good < limit * 1000; tried++) {
		shuffle_blocks(moved, x, n, length, &r);
		good += largest_q(moved, n) >= q * (1 - 1e-9);
	}
	d.p = (double)(1 + good) / (double)(1 + tried);
	return d;
}

/* Steps of many sizes in noise that resembles its neighbours, or does not. */
static void
permutations(void)
{
	size_t same = 0, ends = 0, all = 0, blocks = 0;
	struct rng r;

	rng_seed(&r, 17, 0);
	for (size_t n = 6; n <= 26; n += 4)
		for (int k = 0; k < 8; k++, all++) {
			double x[MOST], e = 0, limit = k % 2 ? .01 : .05;
			struct energy_split got, want;
			size_t at = 2 + rng_below(&r, n - 3);

			for (size_t i = 0; i < n; i++) {
				e = (k < 4 ? 0 : .5) * e + rng_unit(&r);
				x[i] = e + (i >= at) * .25 * (k % 4);
				if (k == 2)
					x[i] = floor(4 * x[i]);
			}
			want = slow_chance(x, n, at, limit);
			got = energy_chance(x, n, at, limit);
			blocks += block_of(x, n, at) > 1;
			same += fabs(got.p - want.p) < 1e-12;
			ends += got.lo == want.lo && got.hi == want.hi;
		}
	tap_ok(same == all,
	    "the chance of a step is that of 999 permutations: %zu of %zu",
	    same, all);
	tap_ok(blocks > 5, "in %zu of them blocks were moved", blocks);
	tap_ok(ends == all,
	    "its place lies where Q is .95 of its largest: %zu of %zu", ends,
	    all);
}

int
main(void)
{
	bootstraps();
	permutations();
	return tap_done();
}
