#include "values.h"
#include "command.h"
#include "engine.h"
#include "mem.h"
#include "str.h"

#include <endian.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* Of the random bytes, which are always the same. */
#define SEED UINT64_C(0x76616c756573)

#define POOL ((size_t)1 << 20)
#define PIECE_RANDOM_MOST ((size_t)1 << 16)
#define PIECE_PART_MOST ((size_t)1 << 12)
#define FILLER 'x'
#define SPREAD_LEAST 8 /* of a size in a list */

/*
 * What deflate needs, in bytes: its frame; for a match of 258 bytes; and for a
 * random byte. It has a fixed code, and makes one of its own, with a table,
 * where that is shorter.
 */
#define FRAME 7.3
#define MATCH_BYTES 258
#define FIXED_MATCH (13. / 8)
#define FIXED_BYTE 1.055
#define OWN_BYTE 1.004
#define OWN_TABLE 80

struct values {
	struct valuespec spec;
	uint64_t until[VALUESPEC_MOST]; /* of each size, as part of 2^64 */
	size_t longest;
	char *text; /* constant, if sizes vary: the longest value */
};

static char pool[POOL];
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void
fill_pool(void)
{
	struct rng rng;
	uint64_t v;

	rng_seed(&rng, SEED, 0);
	for (size_t i = 0; i < POOL; i += sizeof v) {
		v = htole64(rng_next(&rng));
		memcpy(pool + i, &v, sizeof v);
	}
}

struct values *
values_new(const struct engine_work *w)
{
	struct values *v = mem_new(sizeof *v);
	double sum = 0;

	v->spec = w->values;
	if (!v->spec.n) {
		v->spec.n = 1;
		v->spec.sizes[0] =
		    (struct valuespec_size){w->data_size, w->data_size, 1};
	}
	for (size_t i = 0; i < v->spec.n; i++) {
		sum += v->spec.sizes[i].share;
		v->until[i] =
		    sum < 1 ? (uint64_t)(sum * 0x1p63) * 2 : UINT64_MAX;
	}
	v->until[v->spec.n - 1] = UINT64_MAX;
	v->longest = (size_t)valuespec_longest(&v->spec);
	if (v->spec.random)
		pthread_once(&once, fill_pool);
	else if (values_vary(v))
		v->text = command_value(v->longest);
	return v;
}

void
values_free(struct values *v)
{
	if (!v)
		return;
	free(v->text);
	free(v);
}

size_t
values_mean(const struct values *v)
{
	return (size_t)(valuespec_mean(&v->spec) + .5);
}

size_t
values_longest(const struct values *v)
{
	return v->longest;
}

bool
values_vary(const struct values *v)
{
	return v->spec.n > 1 || v->spec.sizes[0].low < v->spec.sizes[0].high;
}

bool
values_constant(const struct values *v)
{
	return !v->spec.random;
}

size_t
values_draw_size(const struct values *v, struct rng *rng)
{
	const struct valuespec_size *s = v->spec.sizes;
	uint64_t x;
	size_t i = 0;

	if (v->spec.n > 1) {
		x = rng_next(rng);
		while (x > v->until[i])
			i++;
		s += i;
	}
	return (size_t)s->low +
	    (s->low < s->high
		    ? (size_t)rng_below(rng, (uint64_t)(s->high - s->low) + 1)
		    : 0);
}

bool
values_spread(const struct values *v, struct rng *rng, uint32_t *to, size_t n)
{
	const struct valuespec_size *s = v->spec.sizes;
	const struct valuespec_size *last = s + v->spec.n;
	size_t begin = 0, end, k;
	double sum = 0;

	for (; s < last; s++, begin = end) {
		sum += s->share;
		end = s + 1 < last ? (size_t)(sum * (double)n + .5) : n;
		if (end < begin + SPREAD_LEAST)
			return false;
		for (k = begin; k < end; k++)
			to[k] = (uint32_t)(s->low +
			    (2 * (long long)(k - begin) + 1) *
				(s->high - s->low + 1) /
				(2 * (long long)(end - begin)));
	}
	rng_shuffle(rng, to, n, sizeof *to);
	return true;
}

/* Returns how many bytes of a value of n bytes are random. */
static size_t
count_random(double ratio, size_t n)
{
	double bytes = (double)n / ratio - FRAME;
	double matches = (double)n * (1 - 1 / ratio) / MATCH_BYTES +
	    (double)((n - 1) / PIECE_PART_MOST + 1);
	/* The code it makes depends on how frequent matches are. */
	double own_match = (log2(1 + (double)n / ratio / matches) + 1.5) / 8;
	double fixed = (bytes - FIXED_MATCH * matches) / FIXED_BYTE;
	double own = (bytes - OWN_TABLE - own_match * matches) / OWN_BYTE;

	if (own > fixed)
		fixed = own;
	return fixed < 0 ? 0 : fixed < (double)n ? (size_t)(fixed + .5) : n;
}

char *
values_write(const struct values *v, char *to, size_t n, struct rng *rng)
{
	size_t most = PIECE_RANDOM_MOST, part, random, all = n, done = 0, end;

	if (!v->spec.random) {
		memcpy(to, v->text, n);
		return to + n;
	}
	random = n;
	if (v->spec.ratio > 1) {
		most = PIECE_PART_MOST;
		random = count_random(v->spec.ratio, n);
	}
	for (; n; n -= part, to += part) {
		part = n < most ? n : most;
		/* the random bytes up to the end of this piece */
		end = random * (all - n + part) / all;
		memcpy(to, pool + rng_below(rng, POOL - most), end - done);
		memset(to + (end - done), FILLER, part - (end - done));
		done = end;
	}
	return to;
}

#define SIZES UINT64_C(0x73697a6573) /* stream of random numbers of a size */
#define BLOCK sizeof(uint64_t)

/* The length of the key is hashed too: "ab" "c" is not "a" "bc". */
uint64_t
values_id(const char *key, size_t nkey, const char *field, size_t nfield)
{
	uint64_t n = nkey, h = str_hash(STR_HASH, key, nkey);

	if (!field)
		return h;
	h = str_hash(h, &n, sizeof n);
	return str_hash(h, field, nfield);
}

size_t
values_size(const struct values *v, uint64_t id)
{
	struct rng rng;

	if (!values_vary(v))
		return values_longest(v);
	rng_seed(&rng, id, SIZES);
	return values_draw_size(v, &rng);
}

/* Returns eight bytes of a value: the i-th number of splitmix64, see rng.h. */
static uint64_t
get_block(uint64_t id, uint64_t i)
{
	uint64_t z = id + (i + 1) * UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return htole64(z ^ z >> 31);
}

char *
values_fill(uint64_t id, char *to, size_t n)
{
	uint64_t block, i;
	size_t k;

	for (i = 0; n; n -= k, to += k, i++) {
		block = get_block(id, i);
		k = n < BLOCK ? n : BLOCK;
		memcpy(to, &block, k);
	}
	return to;
}

unsigned char
values_byte(uint64_t id, uint64_t at)
{
	uint64_t block = get_block(id, at / BLOCK);

	return ((const unsigned char *)&block)[at % BLOCK];
}

size_t
values_compare(uint64_t id, uint64_t at, const char *p, size_t n)
{
	uint64_t block;
	size_t done = 0, from, k;

	while (done < n) {
		block = get_block(id, (at + done) / BLOCK);
		from = (at + done) % BLOCK;
		k = BLOCK - from < n - done ? BLOCK - from : n - done;
		if (memcmp(p + done, (const char *)&block + from, k) != 0)
			break;
		done += k;
	}
	while (done < n && (unsigned char)p[done] == values_byte(id, at + done))
		done++;
	return done;
}
