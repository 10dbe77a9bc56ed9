#include "chooser.h"
#include "engine.h"
#include "keys.h"
#include "mem.h"
#include "ranks.h"
#include "rng.h"

#include <stdlib.h>

#define MULTIPLIER UINT64_C(0x9e3779b97f4a7c15)
#define INCREMENT UINT64_C(0x632be59bd9b4e019)

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

	if (w->sequential || kind == KEYSPEC_SEQUENTIAL)
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
	ranks_free(own->ranks);
	free(own);
}
