#include "rng.h"
#include "mem.h"

#include <math.h>
#include <stdlib.h>

static uint64_t
next_splitmix64(uint64_t *x)
{
	uint64_t z = (*x += UINT64_C(0x9e3779b97f4a7c15));

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

void
rng_seed(struct rng *r, uint64_t seed, uint64_t stream)
{
	uint64_t x = seed;
	int i;

	if (stream)
		x = next_splitmix64(&x) ^ next_splitmix64(&stream);
	for (i = 0; i < 4; i++)
		r->s[i] = next_splitmix64(&x);
	r->quick.lower = next_splitmix64(&x) | 1; /* odd, for a full period */
	r->quick.upper = next_splitmix64(&x);
}

/* As Fisher and Yates do. */
void
rng_shuffle(struct rng *r, void *v, size_t n, size_t size)
{
	char *a = v, *b, *last, t;

	for (; n > 1; n--) {
		b = a + rng_below(r, n) * size;
		last = a + (n - 1) * size;
		for (size_t i = 0; i < size; i++) {
			t = last[i];
			last[i] = b[i];
			b[i] = t;
		}
	}
}

void
rng_order(size_t *v, size_t n, uint64_t seed, uint64_t stream, size_t round)
{
	size_t *row = mem_array(n + 1, sizeof *row);
	struct rng r;

	rng_seed(&r, seed, stream);
	for (size_t i = 0; i < n; i++)
		row[i] = i;
	rng_shuffle(&r, row, n, sizeof *row);
	for (size_t i = 0; i < n; i++)
		v[i] = row[(i + round) % n];
	free(row);
}

double
rng_unit(struct rng *r)
{
	return (double)(rng_next(r) >> 11) * 0x1p-53;
}

double
rng_exponential(struct rng *r)
{
	return -log1p(-rng_unit(r));
}
