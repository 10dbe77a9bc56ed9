/*
 * What rests on chance, computed again the slow and obvious way with the same
 * random numbers: the bootstrap of a ratio, and the permutations of a step.
 */
#include "bootstrap.h"
#include "energy.h"
#include "rng.h"
#include "slowbca.h"
#include "tap.h"

#include <stdint.h>
#include <stdlib.h>

enum { PERMUTATIONS = 999 };

/* FNV-1a, 64 bit, as its authors give it. */
static uint64_t
fnv(uint64_t h, const void *data, size_t n)
{
	for (size_t i = 0; i < n; i++)
		h = (h ^ ((const unsigned char *)data)[i]) * 1099511628211u;
	return h;
}

#define FNV_START 14695981039346656037u

/* The geometric means of the resampled ratios. */
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
}

static void
check_bootstrap(const char *what, const struct bootstrap_pair *v, size_t k)
{
	static double t[BOOTSTRAP_DRAWS];
	struct bootstrap b, want;

	bootstrap_geomean("rps", v, k, .9, &b);
	draw_all(t, "rps", v, k);
	want = slow_bca(v, k, t, BOOTSTRAP_DRAWS, .9);
	printf("# %s: z0 %g, a %g\n", what, want.z0, want.a);
	tap_near(
	    b.est, want.est, 1e-12, "the geometric mean is that of medians");
	tap_near(b.a, want.a, 1e-9, "the acceleration follows the jackknife");
	tap_near(b.z0, want.z0, .002, "the bias is the part of draws below");
	tap_near(b.lo, end_of(t, BOOTSTRAP_DRAWS, b.z0, want.a, .05), 1e-9,
	    "the lower end is the quantile that Efron's formula gives");
	tap_near(b.hi, end_of(t, BOOTSTRAP_DRAWS, b.z0, want.a, .95), 1e-9,
	    "the upper end is such a quantile");
}

static void
check_refusals(const struct bootstrap_pair *p)
{
	double broken[] = {90, 0, 89, 99, 88};
	const struct bootstrap_pair bad[] = {{p->x, broken, p->m, 5, false},
	    {broken, p->y, 5, p->n, false}, {p->x, p->y, p->m, 4, false}};
	struct bootstrap b;

	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		tap_ok(bootstrap_geomean("rps", &bad[i], 1, .9, &b) < 0 &&
			isnan(b.est) && isnan(b.hi),
		    "%s has no ratio",
		    i < 2 ? "a zero on either side" : "a side of four runs");
	tap_ok(bootstrap_geomean("rps", p, 0, .9, &b) < 0 && isnan(b.est),
	    "no cases have no mean");
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
	check_refusals(&one);
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
			got = energy_test_split(x, n, at, limit);
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
