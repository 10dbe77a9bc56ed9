/*
 * The permutation test of a step, computed again with simple loops and the same
 * random numbers.
 */
#include "energy.h"
#include "rng.h"
#include "slow.h"
#include "tap.h"

#include <stdint.h>
#include <stdlib.h>

enum { PERMUTATIONS = 999, MOST = 48 };

/* FNV-1a, 64 bit, as its authors give it. */
static uint64_t
fnv(uint64_t h, const void *data, size_t n)
{
	for (size_t i = 0; i < n; i++)
		h = (h ^ ((const unsigned char *)data)[i]) * 1099511628211u;
	return h;
}

#define FNV_START 14695981039346656037u

/* The sum of all |a_i - b_k|. */
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
	    "p of a step is that of 999 permutations: %zu of %zu", same, all);
	tap_ok(blocks > 5, "%zu of them permuted blocks", blocks);
	tap_ok(ends == all,
	    "its range is where Q is at least .95 of its maximum: %zu of %zu",
	    ends, all);
}

/* A limit that 10^12 permutations would be needed for. */
static void
tiny_limits(void)
{
	double x[MOST], limit = 1e-12;

	for (size_t i = 0; i < 40; i++)
		x[i] = (double)(i % 2) + (i >= 20) * 1.6;
	tap_ok(energy_test_split(x, 40, 20, .01).p < .01 &&
		energy_test_split(x, 40, 20, limit).p > limit,
	    "a step is not confirmed if that would take too many permutations");
	for (size_t i = 20; i < 40; i++)
		x[i] += 10;
	tap_ok(energy_test_split(x, 40, 20, limit).p <= limit,
	    "a step that is larger than all permutations is confirmed");
}

int
main(void)
{
	permutations();
	tiny_limits();
	return tap_done();
}
