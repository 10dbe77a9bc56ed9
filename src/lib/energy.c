#include "energy.h"
#include "mem.h"
#include "rng.h"
#include "stats.h"
#include "str.h"
#include "tdist.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define PERMUTATIONS 999 /* more if the limit needs them, */
#define MOST 99999       /* at most this many */
#define NEARLY .95       /* of the maximum of Q */
#define BLOCKS 8         /* blocks of points, at least */

void
energy_sums(const double *x, size_t n, double *g)
{
	for (size_t j = 0; j <= n; j++) {
		double column = 0;

		g[j * (n + 1) + j] = 0;
		for (size_t i = j; i-- > 0;) {
			column += fabs(x[i] - x[j - 1]);
			g[i * (n + 1) + j] = g[i * (n + 1) + j - 1] + column;
		}
	}
}

double *
energy_inverses(size_t n)
{
	double *inv = mem_array(n + 1, sizeof *inv);

	for (size_t i = 1; i <= n; i++)
		inv[i] = 1 / (double)i;
	return inv;
}

/* The points of two segments, and sums for permuting them. */
struct pairs {
	size_t n;
	double *x;    /* differences from the median */
	size_t *rank; /* equal values, equal rank; from 0 */
	double *row;  /* sum over all others of |x_i - x_j| */
	double *inv, *q;
	double all;
	struct node {
		double n, sum;
	} * tree; /* Fenwick tree by rank, of the points before */
};

static void
init_pairs(struct pairs *p, const double *x, size_t n)
{
	size_t *order = stats_order(x, n), before = 0;
	double below = 0, total = 0, median;

	*p = (struct pairs){.n = n};
	p->x = mem_array(n, sizeof *p->x);
	p->rank = mem_array(n, sizeof *p->rank);
	p->row = mem_array(n, sizeof *p->row);
	p->q = mem_array(n, sizeof *p->q);
	p->tree = mem_array(n + 1, sizeof *p->tree);
	p->inv = energy_inverses(n);
	median = x[order[n / 2]];
	for (size_t i = 0; i < n; i++) {
		p->x[order[i]] = x[order[i]] - median;
		total += p->x[order[i]];
	}
	for (size_t i = 0; i < n; i++) {
		size_t at = order[i];
		double v = p->x[at];

		p->rank[at] = i && v == p->x[before] ? p->rank[before] : i;
		p->row[at] =
		    v * (double)i - below + total - below - v * (double)(n - i);
		below += v;
		p->all += p->row[at] / 2;
		before = at;
	}
	free(order);
}

static void
free_pairs(struct pairs *p)
{
	free(p->x);
	free(p->rank);
	free(p->row);
	free(p->inv);
	free(p->q);
	free(p->tree);
}

/* Returns the largest Q(0, tau, n) in this order; p->q gets all of them. */
static double
find_max_q(struct pairs *p, const size_t *order)
{
	double xx = 0, rows = 0, sum = 0, best = -INFINITY;

	memset(p->tree, 0, (p->n + 1) * sizeof *p->tree);
	for (size_t t = 1; t < p->n; t++) {
		size_t i = order[t - 1];
		double x = p->x[i], below = 0, less = 0, before = (double)t - 1;

		for (size_t k = p->rank[i] + 1; k > 0; k &= k - 1) {
			less += p->tree[k].n;
			below += p->tree[k].sum;
		}
		for (size_t k = p->rank[i] + 1; k <= p->n; k += k & -k) {
			p->tree[k].n++;
			p->tree[k].sum += x;
		}
		xx += x * (2 * less - before) + sum - 2 * below;
		sum += x;
		rows += p->row[i]; /* 2 xx + xy */
		p->q[t] = energy_q(
		    p->inv, t, p->n - t, xx, p->all - rows + xx, p->all);
		best = p->q[t] > best ? p->q[t] : best;
	}
	return best;
}

/* Seeds by the ranks, so that the unit of the points does not matter. */
static void
seed_from_ranks(struct rng *r, const struct pairs *p)
{
	unsigned long long h = STR_HASH;

	for (size_t i = 0; i < p->n; i++) {
		uint64_t rank = p->rank[i];

		h = str_hash(h, &rank, sizeof rank);
	}
	rng_seed(r, h, 0);
}

/* Returns the block length of energy.h, by the residuals of both sides. */
static size_t
choose_block_length(const struct pairs *p, size_t m)
{
	double *v = mem_array(p->n, sizeof *v), *res, mid[2], r, l;

	memcpy(v, p->x, p->n * sizeof *v);
	stats_sort(v, m);
	stats_sort(v + m, p->n - m);
	mid[0] = stats_median(v, m);
	mid[1] = stats_median(v + m, p->n - m);
	res = v;
	for (size_t i = 0; i < p->n; i++)
		res[i] = p->x[i] - mid[i >= m];
	r = stats_lag1(res, p->n);
	free(v);
	if (!(r >= .1))
		return 1;
	l = ceil(pow(2 * r / (1 - r * r), 2. / 3) * cbrt((double)p->n));
	/* Fewer blocks have too few permutations. */
	return (size_t)fmax(1, fmin(l, floor((double)p->n / BLOCKS)));
}

/* The first block has a random length up to 'length', the last the rest. */
static void
permute_blocks(
    size_t *order, size_t *blocks, size_t n, size_t length, struct rng *r)
{
	size_t first = length > 1 ? 1 + rng_below(r, length) : 1;
	size_t nblocks = 0, k = 0;

	for (size_t i = 0; i < n; i = i ? i + length : first)
		blocks[nblocks++] = i;
	for (size_t i = nblocks; i > 1; i--) {
		size_t j = rng_below(r, i), swap = blocks[i - 1];

		blocks[i - 1] = blocks[j];
		blocks[j] = swap;
	}
	for (size_t i = 0; i < nblocks; i++) {
		size_t end = blocks[i] + (blocks[i] ? length : first);

		for (size_t j = blocks[i]; j < n && j < end; j++)
			order[k++] = j;
	}
}

/* Returns how many permutations can give a p up to the limit. */
static size_t
count_permutations(double limit)
{
	return (size_t)fmin(fmax(PERMUTATIONS, ceil(1 / limit) - 1), MOST);
}

/* Returns p by permutation. Stops once p is certain to be above the limit
 * (Besag & Clifford, Biometrika 78, 1991). */
static double
estimate_p(struct pairs *p, size_t length, double q, double limit)
{
	size_t as_good = 0, tried = 0, most = count_permutations(limit);
	size_t *order = mem_array(p->n, sizeof *order);
	size_t *blocks = mem_array(p->n, sizeof *blocks);
	size_t enough = (size_t)(limit * (double)(most + 1) + .5);
	struct rng r;

	seed_from_ranks(&r, p);
	while (tried < most && as_good < enough) {
		permute_blocks(order, blocks, p->n, length, &r);
		as_good += find_max_q(p, order) >= q * (1 - 1e-9);
		tried++;
	}
	free(order);
	free(blocks);
	return (double)(1 + as_good) / (double)(1 + tried);
}

/* Returns true if the step is so large, and has so many permutations, that none
 * of 999 comes near: they need not be tried. Blocks count as points. */
static bool
is_beyond_chance(const struct pairs *p, size_t at, size_t length)
{
	double m = (double)(at / length), n = (double)((p->n - at) / length);
	double mean[2], ss, se;

	if (lgamma(m + n + 1) - lgamma(m + 1) - lgamma(n + 1) < log(1e9))
		return false;
	ss = stats_squares(p->x, at, &mean[0]);
	ss += stats_squares(p->x + at, p->n - at, &mean[1]);
	se = sqrt(ss / (double)p->n * (1 / m + 1 / n));
	return 2 * tdist_sf(fabs(mean[1] - mean[0]) / se, m + n - 2) < 1e-12;
}

struct energy_split
energy_test_split(const double *x, size_t n, size_t at, double limit)
{
	struct energy_split d = {1, at, at};
	size_t length, *order = mem_array(n, sizeof *order);
	struct pairs p;
	double q;

	init_pairs(&p, x, n);
	for (size_t i = 0; i < n; i++)
		order[i] = i;
	q = find_max_q(&p, order);
	for (size_t t = 1; t < n; t++)
		if (p.q[t] >= NEARLY * q) {
			d.lo = t < d.lo ? t : d.lo;
			d.hi = t > d.hi ? t : d.hi;
		}
	length = choose_block_length(&p, at);
	if (q > 0 && is_beyond_chance(&p, at, length))
		d.p = fmin(limit, 1 / (double)(count_permutations(limit) + 1));
	else if (q > 0)
		d.p = estimate_p(&p, length, q, limit);
	free_pairs(&p);
	free(order);
	return d;
}
