#include "order.h"
#include "mem.h"
#include "rng.h"

#include <string.h>

enum order_how
order_parse(const char *s)
{
	if (!s || strcmp(s, "interleaved") == 0)
		return ORDER_INTERLEAVED;
	return strcmp(s, "random") == 0 ? ORDER_RANDOM : ORDER_SEQUENTIAL;
}

/* Fisher and Yates. */
static void
shuffle(struct rng *r, struct slot *v, size_t n)
{
	struct slot t;
	size_t k;

	for (; n > 1; n--) {
		k = rng_below(r, n);
		t = v[n - 1];
		v[n - 1] = v[k];
		v[k] = t;
	}
}

static void
sequential(struct slot *s, const struct order *o)
{
	for (size_t b = 0; b < o->nbuilds; b++)
		for (size_t c = 0; c < o->nscenes; c++)
			for (size_t i = o->first; i <= o->last; i++)
				*s++ = (struct slot){
				    .scene = c, .build = b, .index = i};
}

/* Rounds over all cases: a killed job has measured each case, and what drifts
 * over the hours is in the spread of every case alike. */
static void
interleaved(struct slot *s, const struct order *o, struct rng *r)
{
	for (size_t i = o->first; i <= o->last; i++)
		for (size_t c = 0; c < o->nscenes; c++) {
			for (size_t b = 0; b < o->nbuilds; b++)
				s[b] = (struct slot){.scene = c,
				    .build = b,
				    .index = i,
				    .block = o->nbuilds > 1 ? i : 0};
			shuffle(r, s, o->nbuilds);
			s += o->nbuilds;
		}
}

struct slot *
order_make(const struct order *o, size_t *n)
{
	struct slot *s;
	struct rng r;

	*n = o->nscenes * o->nbuilds * (o->last - o->first + 1);
	s = mem_array(*n + 1, sizeof *s);
	rng_seed(&r, o->seed, o->first - 1);
	if (o->how == ORDER_INTERLEAVED)
		interleaved(s, o, &r);
	else
		sequential(s, o);
	if (o->how == ORDER_RANDOM)
		shuffle(&r, s, *n);
	return s;
}
