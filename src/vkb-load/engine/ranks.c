#include "ranks.h"
#include "mem.h"

#include <math.h>
#include <stdlib.h>

#define ROUNDS 24 /* halvings to find the area */
#define MULTIPLIER UINT64_C(0x9e3779b97f4a7c15)

static const double one = (double)((uint64_t)1 << RANKS_FRACTION);

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

/* Returns the density at a position, relative to that of the first rank. */
static double
get_density(const struct ranks *k, uint64_t at)
{
	return exp(
	    get_log_density(k, at >> RANKS_FRACTION) - get_log_density(k, 0));
}

/* Returns the probability that a rank with this density is taken in a strip. */
static double
get_share(const struct ranks *k, size_t strip, double density)
{
	return density * (double)k->width[strip] / one / k->area;
}

bool
ranks_take(const struct ranks *k, uint64_t rank, uint64_t word)
{
	/* Further bits, for a rank that is taken or not by the last one. */
	double more = (double)(word * MULTIPLIER >> 11) * 0x1p-53;
	double fraction = (double)((uint32_t)word >> RANKS_BITS) + more;

	return fraction / (1 << RANKS_TAKE) <
	    get_share(
		k, word % RANKS_STRIPS, get_density(k, rank << RANKS_FRACTION));
}

/* Returns how wide a strip of this density is, at most 'most'. */
static uint64_t
get_width(const struct ranks *k, double density, uint64_t most)
{
	double width = k->area / density * one;

	return width < 1 ? 1 : width < (double)most ? (uint64_t)width : most;
}

/* Makes a strip from a position on. Returns its end. */
static uint64_t
cut_strip(struct ranks *k, size_t i, uint64_t start)
{
	uint64_t end = k->n << RANKS_FRACTION, hot = k->hot << RANKS_FRACTION;
	double first = get_density(k, start), last;

	k->start[i] = start;
	k->width[i] = get_width(k, first, end - start);
	last = get_density(k, start + k->width[i] - 1);
	if (start < hot && last > first) { /* the rest is more popular */
		k->width[i] = hot - start;
		last = first;
	}
	/* If all are taken, ranks_take says so of the one word that is left. */
	k->sure[i] =
	    (uint32_t)fmin(get_share(k, i, last) * 0x1p32, UINT32_MAX) >>
	    RANKS_BITS << RANKS_BITS;
	return start + k->width[i];
}

/* Cuts all ranks into strips. Returns false if there are not enough. */
static bool
cut_ranks(struct ranks *k, double area)
{
	uint64_t end = k->n << RANKS_FRACTION, at = 0;
	size_t i;

	k->area = area;
	for (i = 0; i < RANKS_STRIPS && at < end; i++)
		at = cut_strip(k, i, at);
	for (; i < RANKS_STRIPS; i++) /* no rank is taken */
		k->start[i] = k->width[i] = k->sure[i] = 0;
	return at == end;
}

struct ranks *
ranks_new(const struct keyspec *spec, uint64_t n)
{
	struct ranks *k = mem_new(sizeof *k);
	double low = 0, high = 1. / RANKS_STRIPS, middle;
	bool enough;

	k->spec = *spec;
	k->n = n;
	if (spec->kind == KEYSPEC_HOT) {
		k->hot = (uint64_t)llround(spec->shape * (double)n);
		k->hot = k->hot ? k->hot : 1;
	}
	for (; !cut_ranks(k, high); high *= 2)
		low = high;
	/* the smallest area that is enough */
	for (int i = 0; i < ROUNDS; i++) {
		middle = (low + high) / 2;
		enough = cut_ranks(k, middle);
		low = enough ? low : middle;
		high = enough ? middle : high;
	}
	cut_ranks(k, high);
	return k;
}

void
ranks_free(struct ranks *k)
{
	free(k);
}
