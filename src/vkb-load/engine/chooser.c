#include "chooser.h"
#include "engine.h"
#include "rng.h"

static bool
wants_order(const struct engine_work *w)
{
	return w->sequential;
}

static void
draw_in_order(
    struct rng *rng, uint64_t at, uint64_t space, uint64_t *to, size_t n)
{
	(void)rng;
	for (at %= space; n; n--) {
		*to++ = at++;
		if (at == space)
			at = 0;
	}
}

static bool
wants_random(const struct engine_work *w)
{
	(void)w;
	return true;
}

static void
draw_uniformly(
    struct rng *rng, uint64_t at, uint64_t space, uint64_t *to, size_t n)
{
	struct rng r = *rng;

	(void)at;
	while (n--)
		*to++ = rng_below(&r, space);
	*rng = r;
}

const struct chooser chooser_sequential = {
    "sequential", wants_order, true, draw_in_order};
const struct chooser chooser_uniform = {
    "uniform", wants_random, false, draw_uniformly};

/* The first that is wanted. */
static const struct chooser *const choosers[] = {
    &chooser_sequential, &chooser_uniform};

const struct chooser *
chooser_find(const struct engine_work *w)
{
	size_t i = 0;

	while (!choosers[i]->wanted(w))
		i++;
	return choosers[i];
}
