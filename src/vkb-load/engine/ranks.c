#include "ranks.h"
#include "mem.h"

#include <math.h>
#include <stdlib.h>

#define PIECES ((size_t)1 << RANKS_BINS) /* at most */
#define CHANGE .03125 /* of the logarithm of the density within a piece */
#define WIDEST ((uint64_t)1 << 35) /* a piece: for the precision of scales */
#define NEVER -45 /* this density, relative to the first, is not cut up */

struct piece {
	uint64_t start, width;
	double weight;
};

/* Returns the logarithm of the density of a rank, but for a constant. */
static double
get_log_density(const struct ranks *k, uint64_t rank)
{
	double z, sd;

	switch (k->spec.kind) {
	case KEYSPEC_ZIPF:
	case KEYSPEC_LATEST:
		return -k->spec.shape * log1p((double)rank);
	case KEYSPEC_GAUSSIAN: /* see draw_around_middle in chooser.c */
		z = k->n % 2 ? (double)((rank + 1) / 2)
			     : (double)(rank / 2) + .5;
		sd = k->spec.shape * (double)k->n;
		return -z * z / (2 * sd * sd);
	case KEYSPEC_HOT:
		return rank < k->hot
		    ? log(k->spec.requests / (double)k->hot)
		    : log((1 - k->spec.requests) / (double)(k->n - k->hot));
	default:
		return 0;
	}
}

bool
ranks_take(
    const struct ranks *k, uint64_t start, uint64_t rank, double fraction)
{
	return fraction <
	    exp(get_log_density(k, rank) - get_log_density(k, start));
}

/* Returns the end of the piece that begins at 'start'. */
static uint64_t
find_end(const struct ranks *k, uint64_t start, double change)
{
	double first = get_log_density(k, start);
	uint64_t low = start + 1, high = k->n, middle;

	if (high - start > WIDEST)
		high = start + WIDEST;
	if (first - get_log_density(k, 0) < NEVER)
		return high;
	while (low < high) { /* ranks below 'low' are in it */
		middle = low + (high - low) / 2;
		if (fabs(get_log_density(k, middle) - first) <= change)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Cuts the ranks into pieces. Returns their number, or 0 if PIECES are not
 * enough. */
static size_t
cut_ranks(const struct ranks *k, double change, struct piece *v)
{
	double top = get_log_density(k, 0);
	uint64_t start = 0, end;
	size_t count = 0;

	for (; start < k->n; start = end) {
		if (count == PIECES)
			return 0;
		end = find_end(k, start, change);
		v[count++] = (struct piece){start, end - start,
		    (double)(end - start) *
			exp(get_log_density(k, start) - top)};
	}
	return count;
}

/* Returns a share as a fraction of 2^64. */
static uint64_t
get_fraction(double share)
{
	return share < 1 ? (uint64_t)(share * 0x1p63) * 2 : UINT64_MAX;
}

/* Makes the part of a bin that has the fractions from 'base' on. */
static struct ranks_part
make_part(const struct ranks *k, const struct piece *p, uint64_t base,
    unsigned __int128 size)
{
	unsigned __int128 scale = (unsigned __int128)p->width
	    << (64 + RANKS_BITS);
	double last = get_log_density(k, p->start + p->width - 1) -
	    get_log_density(k, p->start);

	scale = size ? scale / size : 0;
	return (struct ranks_part){.base = base,
	    .scale = scale > UINT64_MAX ? UINT64_MAX : (uint64_t)scale,
	    .start = p->start,
	    .squeeze =
		last < 0 ? (uint64_t)(exp(last) * RANKS_ONE) : RANKS_ONE};
}

/* Sets a bin: the piece 'own' has 'share' of it, 'other' the rest. */
static void
set_bin(struct ranks *k, size_t i, const struct piece *own, double share,
    const struct piece *other)
{
	uint64_t size = get_fraction(share);

	k->bins[i].parts[0] = make_part(k, own, 0, size);
	k->bins[i].parts[1] =
	    make_part(k, other, size, ((unsigned __int128)1 << 64) - size);
}

/* Fills the bins by Vose's algorithm; pieces without weight are allowed. */
static void
fill_bins(struct ranks *k, const struct piece *v, size_t count)
{
	size_t n = PIECES, i, small = 0, large = 0;
	double *share = mem_array(n, sizeof *share), sum = 0;
	size_t *smalls = mem_array(n, sizeof *smalls);
	size_t *larges = mem_array(n, sizeof *larges);
	const struct piece *own;

	for (i = 0; i < count; i++)
		sum += v[i].weight;
	for (i = 0; i < n; i++) {
		share[i] = i < count ? v[i].weight / sum * (double)n : 0;
		if (share[i] < 1)
			smalls[small++] = i;
		else
			larges[large++] = i;
	}
	while (small && large) {
		i = smalls[--small];
		own = &v[i < count ? i : 0];
		set_bin(k, i, own, share[i], &v[larges[large - 1]]);
		share[larges[large - 1]] -= 1 - share[i];
		if (share[larges[large - 1]] < 1)
			smalls[small++] = larges[--large];
	}
	/* What is left is 1, but for rounding. */
	while (large) {
		i = larges[--large];
		set_bin(k, i, &v[i], 1, &v[i]);
	}
	while (small) {
		i = smalls[--small];
		own = &v[i < count ? i : 0];
		set_bin(k, i, own, 1, own);
	}
	free(share);
	free(smalls);
	free(larges);
}

struct ranks *
ranks_new(const struct keyspec *spec, uint64_t n)
{
	struct ranks *k = mem_new(sizeof *k);
	struct piece *v = mem_array(PIECES, sizeof *v);
	double change = spec->kind == KEYSPEC_HOT ? 0 : CHANGE;
	size_t count;

	k->spec = *spec;
	k->n = n;
	if (spec->kind == KEYSPEC_HOT) {
		k->hot = (uint64_t)llround(spec->shape * (double)n);
		k->hot = k->hot ? k->hot : 1;
	}
	while (!(count = cut_ranks(k, change, v)))
		change *= 2;
	k->bins = mem_array(PIECES, sizeof *k->bins);
	fill_bins(k, v, count);
	free(v);
	return k;
}

void
ranks_free(struct ranks *k)
{
	if (!k)
		return;
	free(k->bins);
	free(k);
}
