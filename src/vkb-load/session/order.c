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

/* Fisher-Yates shuffle. */
static void
shuffle_slots(struct rng *r, struct turn *v, size_t n)
{
	struct turn t;
	size_t k;

	for (; n > 1; n--) {
		k = rng_below(r, n);
		t = v[n - 1];
		v[n - 1] = v[k];
		v[k] = t;
	}
}

static void
make_sequential(struct turn *s, const struct order *o)
{
	for (size_t b = 0; b < o->nbuilds; b++)
		for (size_t c = 0; c < o->nscenes; c++)
			for (size_t i = o->first; i <= o->last; i++)
				*s++ = (struct turn){
				    .scene = c, .build = b, .index = i};
}

/*
 * Each round has all scenes: a session that is killed has measured each, and a
 * slow drift of the machine affects all alike.
 */
static void
make_interleaved(struct turn *s, const struct order *o, struct rng *r)
{
	for (size_t i = o->first; i <= o->last; i++)
		for (size_t c = 0; c < o->nscenes; c++) {
			for (size_t b = 0; b < o->nbuilds; b++)
				s[b] = (struct turn){.scene = c,
				    .build = b,
				    .index = i,
				    .block = o->nbuilds > 1 ? i : 0};
			shuffle_slots(r, s, o->nbuilds);
			s += o->nbuilds;
		}
}

struct turn *
order_make(const struct order *o, size_t *n)
{
	struct turn *s;
	struct rng r;

	*n = o->nscenes * o->nbuilds * (o->last - o->first + 1);
	s = mem_array(*n + 1, sizeof *s);
	rng_seed(&r, o->seed, o->first - 1);
	if (o->how == ORDER_INTERLEAVED)
		make_interleaved(s, o, &r);
	else
		make_sequential(s, o);
	if (o->how == ORDER_RANDOM)
		shuffle_slots(&r, s, *n);
	return s;
}
