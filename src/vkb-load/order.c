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

static struct slot *
sequential(struct slot *s, size_t ncases, size_t nbuilds, size_t runs)
{
	for (size_t b = 0; b < nbuilds; b++)
		for (size_t c = 0; c < ncases; c++)
			for (size_t i = 1; i <= runs; i++)
				*s++ = (struct slot){
				    .cas = c, .build = b, .index = i};
	return s;
}

/* Rounds over all cases: a killed job has measured each case, and what drifts
 * over the hours is in the spread of every case alike. */
static void
interleaved(
    struct slot *s, size_t ncases, size_t nbuilds, size_t runs, struct rng *r)
{
	for (size_t i = 1; i <= runs; i++)
		for (size_t c = 0; c < ncases; c++) {
			for (size_t b = 0; b < nbuilds; b++)
				s[b] = (struct slot){.cas = c,
				    .build = b,
				    .index = i,
				    .block = nbuilds > 1 ? i : 0};
			shuffle(r, s, nbuilds);
			s += nbuilds;
		}
}

struct slot *
order_make(enum order_how how, size_t ncases, size_t nbuilds, size_t runs,
    uint64_t seed)
{
	size_t n = ncases * nbuilds * runs;
	struct slot *s = mem_array(n + 1, sizeof *s);
	struct rng r;

	rng_seed(&r, seed, 0);
	if (how == ORDER_INTERLEAVED)
		interleaved(s, ncases, nbuilds, runs, &r);
	else
		sequential(s, ncases, nbuilds, runs);
	if (how == ORDER_RANDOM)
		shuffle(&r, s, n);
	return s;
}
