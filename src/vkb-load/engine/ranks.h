/*
 * Random ranks 0..n-1 of which some are more frequent. Exact for any
 * distribution whose density falls or rises from rank to rank, without the sum
 * of all densities.
 *
 * The ranks are cut into strips of the same area: their width times at least
 * the largest density in them. One of them is drawn, a position in it, and the
 * rank there is taken with the probability of its density relative to the
 * height of the strip (Ahrens, "A One-Table Method for Sampling from Continuous
 * and Discrete Distributions", 1995). A position is a rank with a fraction: a
 * frequent rank has several strips, and a strip may begin within a rank. The
 * densities are computed in one or two percent of the draws only. One random
 * word serves all.
 */
#ifndef RANKS_H
#define RANKS_H

#include "keyspec.h"
#include "rng.h"

#include <stdbool.h>
#include <stddef.h>

#define RANKS_FRACTION 24 /* bits of a position; ranks have the other 40 */
#define RANKS_BITS 10     /* of a random word that choose a strip: 24 KiB */
#define RANKS_TAKE 16     /* and those that say whether the rank is taken */
#define RANKS_STRIPS ((size_t)1 << RANKS_BITS)

struct ranks_strip {
	uint64_t start, width; /* positions */
	uint64_t sure;         /* below this a rank is taken in any case */
};

struct ranks {
	struct keyspec spec;
	uint64_t n, hot; /* hot: how many ranks come first */
	double area;     /* of a strip, relative to that of the first rank */
	struct ranks_strip strips[RANKS_STRIPS];
};

/*
 * Not for uniform and sequential; n from 1 to 2^40 - 1. Free with ranks_free.
 */
struct ranks *ranks_new(const struct keyspec *, uint64_t n);
void ranks_free(struct ranks *);

/* Is the rank of a strip taken that was drawn by a random word? */
bool ranks_take(const struct ranks *, const struct ranks_strip *, uint64_t rank,
    uint64_t word);

static inline uint64_t
ranks_draw(const struct ranks *k, struct rng *r)
{
	const struct ranks_strip *s;
	uint64_t x, rank;

	do {
		x = rng_next(r);
		s = &k->strips[x >> (64 - RANKS_BITS)];
		rank = (s->start +
			   (uint64_t)((unsigned __int128)(x << RANKS_BITS) *
				   s->width >>
			       64)) >>
		    RANKS_FRACTION;
	} while (__builtin_expect(x % (1 << RANKS_TAKE) >= s->sure, 0) &&
	    !ranks_take(k, s, rank, x));
	return rank;
}

#endif
