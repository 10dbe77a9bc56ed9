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
 * word serves all: its lowest bits choose the strip, those up to the middle say
 * whether the rank is taken, the upper half is the position.
 */
#ifndef RANKS_H
#define RANKS_H

#include "keyspec.h"
#include "rng.h"

#include <stdbool.h>
#include <stddef.h>

#define RANKS_FRACTION 24 /* bits of a position; ranks have the other 40 */
#define RANKS_BITS 10     /* of a random word that choose a strip: 20 KiB */
#define RANKS_TAKE 22     /* and those that say whether the rank is taken */
#define RANKS_STRIPS ((size_t)1 << RANKS_BITS)

struct ranks {
	struct keyspec spec;
	uint64_t n, hot; /* hot: how many ranks come first */
	double area;     /* of a strip, relative to that of the first rank */
	/* Of each strip; a rank is taken if the lower half of a word is below
	 * 'sure'. */
	uint64_t start[RANKS_STRIPS], width[RANKS_STRIPS]; /* positions */
	uint32_t sure[RANKS_STRIPS];
};

/*
 * Not for uniform and sequential; n from 1 to 2^40 - 1. Free with ranks_free.
 */
struct ranks *ranks_new(const struct keyspec *, uint64_t n);
void ranks_free(struct ranks *);

/* Is the rank taken that was drawn by a random word? */
bool ranks_take(const struct ranks *, uint64_t rank, uint64_t word);

static inline uint64_t
ranks_draw(const struct ranks *k, struct rng_quick *q)
{
	uint64_t x, rank;
	size_t i;

	do {
		x = rng_quick(q);
		i = x % RANKS_STRIPS;
		rank =
		    (k->start[i] +
			(uint64_t)((unsigned __int128)x * k->width[i] >> 64)) >>
		    RANKS_FRACTION;
	} while (__builtin_expect((uint32_t)x >= k->sure[i], 0) &&
	    !ranks_take(k, rank, x));
	return rank;
}

#endif
