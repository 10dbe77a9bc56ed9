#include "chooser.h"
#include "engine.h"
#include "keys.h"
#include "keyspec.h"
#include "mem.h"
#include "rng.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

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

#define ROUNDS 24 /* halvings to find the area */
#define MULTIPLIER UINT64_C(0x9e3779b97f4a7c15)
#define INCREMENT UINT64_C(0x632be59bd9b4e019)

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
	case KEYSPEC_GAUSSIAN: /* see draw_around_middle */
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

/* Is the rank taken that was drawn by a random word? */
static bool
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

/*
 * Not for uniform and sequential; n from 1 to 2^40 - 1.
 */
static struct ranks *
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

static void
draw_in_order(const struct chooser *c, struct rng *rng, uint64_t at,
    uint64_t space, uint64_t *to, size_t n)
{
	(void)c;
	(void)rng;
	for (at %= space; n; n--) {
		*to++ = at++;
		if (at == space)
			at = 0;
	}
}

static void
draw_uniformly(const struct chooser *c, struct rng *rng, uint64_t at,
    uint64_t space, uint64_t *to, size_t n)
{
	struct rng r = *rng;

	(void)c;
	(void)at;
	while (n--)
		*to++ = rng_below(&r, space);
	*rng = r;
}

static void
draw_scattered(const struct chooser *c, struct rng *rng, uint64_t at,
    uint64_t space, uint64_t *to, size_t n)
{
	const struct ranks *k = c->ranks;
	struct rng_quick q = rng->quick;
	uint64_t mask = c->mask, v;
	unsigned half = c->half;

	(void)at;
	for (; n; n--) {
		v = ranks_draw(k, &q);
		do {
			v = (v * MULTIPLIER + INCREMENT) & mask;
			v ^= v >> half;
		} while (v >= space);
		*to++ = v;
	}
	rng->quick = q;
}

/* The ranks alternate between the numbers below and above the middle. */
static void
draw_around_middle(const struct chooser *c, struct rng *rng, uint64_t at,
    uint64_t space, uint64_t *to, size_t n)
{
	uint64_t v;

	(void)at;
	while (n--) {
		v = ranks_draw(c->ranks, &rng->quick);
		*to++ = v % 2 ? space / 2 - (v + 1) / 2 : space / 2 + v / 2;
	}
}

static void
draw_latest(const struct chooser *c, struct rng *rng, uint64_t at,
    uint64_t space, uint64_t *to, size_t n)
{
	uint64_t last =
	    atomic_load_explicit(c->newest, memory_order_relaxed) - 1;

	(void)at;
	(void)space;
	while (n--)
		*to++ =
		    (last - ranks_draw(c->ranks, &rng->quick)) % KEYS_NUMBERS;
}

const struct chooser chooser_sequential = {
    .ordered = true, .draw = draw_in_order};
const struct chooser chooser_uniform = {.draw = draw_uniformly};

const struct chooser *
chooser_new(
    const struct engine_work *w, uint64_t space, const _Atomic uint64_t *newest)
{
	enum keyspec_kind kind = w->keys.kind;
	struct chooser *c;

	if (engine_is_ordered(w))
		return &chooser_sequential;
	if (kind == KEYSPEC_UNIFORM)
		return &chooser_uniform;
	c = mem_new(sizeof *c);
	c->weighted = true;
	c->draw = kind == KEYSPEC_LATEST ? draw_latest
	    : kind == KEYSPEC_GAUSSIAN   ? draw_around_middle
					 : draw_scattered;
	c->ranks = ranks_new(&w->keys, space);
	c->newest = kind == KEYSPEC_LATEST ? newest : NULL;
	for (c->mask = 1; c->mask < space - 1; c->half++)
		c->mask = c->mask << 1 | 1;
	c->half = c->half / 2 + 1;
	return c;
}

void
chooser_free(const struct chooser *c)
{
	struct chooser *own = (struct chooser *)(uintptr_t)c;

	if (!c || !c->weighted)
		return;
	free(own->ranks);
	free(own);
}
