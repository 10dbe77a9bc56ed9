/*
 * Random ranks 0..n-1 of which some are more frequent. Exact for any
 * distribution whose density falls or rises from rank to rank, without the sum
 * of all densities.
 *
 * The ranks are cut into pieces in which the density changes by a few percent.
 * A piece is drawn in proportion to its width times its first density, by the
 * alias method (Walker, "An Efficient Method for Generating Discrete Random
 * Variables with General Distributions", 1977; Vose, "A Linear Algorithm for
 * Generating Random Numbers with a Given Distribution", 1991). A rank is then
 * drawn uniformly in the piece and taken with the probability of its density
 * relative to the first (von Neumann's rejection), for which a logarithm is
 * needed in a few percent of the draws only. One random word serves all.
 */
#ifndef RANKS_H
#define RANKS_H

#include "keyspec.h"
#include "rng.h"

#include <stdbool.h>

/* A piece, or the part of one, that a bin holds. */
struct ranks_part {
	uint64_t base;    /* the smallest fraction that means this part */
	uint64_t scale;   /* from fractions to ranks, see RANKS_BITS */
	uint64_t start;   /* the first rank of the piece */
	uint64_t squeeze; /* below this fraction a rank is taken in any case */
};

#define RANKS_BINS 9 /* 32 KiB */

/* A fraction times its scale has 64 and so many bits behind the point. */
#define RANKS_BITS 20
#define RANKS_ONE ((uint64_t)1 << RANKS_BITS)

struct ranks_bin {
	struct ranks_part parts[2];
};

struct ranks {
	struct keyspec spec;
	uint64_t n, hot;        /* hot: how many ranks come first */
	struct ranks_bin *bins; /* 2^RANKS_BINS */
};

/* Not for uniform and sequential; n >= 1. Free with ranks_free. */
struct ranks *ranks_new(const struct keyspec *, uint64_t n);
void ranks_free(struct ranks *);

/*
 * Is a rank of the piece that begins at 'start' taken? 'fraction' is below 1,
 * and uniform.
 */
bool ranks_take(
    const struct ranks *, uint64_t start, uint64_t rank, double fraction);

static inline uint64_t
ranks_draw(const struct ranks *k, struct rng *r)
{
	const struct ranks_part *p;
	unsigned __int128 m;
	uint64_t x, high, rank;

	do {
		x = rng_next(r);
		p = k->bins[x >> (64 - RANKS_BINS)].parts;
		x <<= RANKS_BINS;
		p += x >= p[1].base;
		m = (unsigned __int128)(x - p->base) * p->scale;
		high = (uint64_t)(m >> 64);
		rank = p->start + (high >> RANKS_BITS);
		high %= RANKS_ONE;
	} while (__builtin_expect(high >= p->squeeze, 0) &&
	    !ranks_take(k, p->start, rank,
		((double)high + (double)(uint64_t)m * 0x1p-64) / RANKS_ONE));
	return rank;
}

#endif
