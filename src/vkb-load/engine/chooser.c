#include "chooser.h"
#include "engine.h"
#include "rng.h"

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

const struct chooser chooser_sequential = {true, draw_in_order};
const struct chooser chooser_uniform = {false, draw_uniformly};

const struct chooser *
chooser_find(const struct engine_work *w)
{
	return w->sequential ? &chooser_sequential : &chooser_uniform;
}
