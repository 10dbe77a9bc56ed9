#include "contents.h"
#include "rng.h"
#include "str.h"
#include "values.h"

#include <endian.h>
#include <string.h>

#define SIZES UINT64_C(0x73697a6573) /* stream of random numbers of a size */
#define BLOCK sizeof(uint64_t)

/* The length of the key is hashed too: "ab" "c" is not "a" "bc". */
uint64_t
contents_id(const char *key, size_t nkey, const char *field, size_t nfield)
{
	uint64_t n = nkey, h = str_hash(STR_HASH, key, nkey);

	if (!field)
		return h;
	h = str_hash(h, &n, sizeof n);
	return str_hash(h, field, nfield);
}

size_t
contents_size(const struct values *v, uint64_t id)
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
contents_write(uint64_t id, char *to, size_t n)
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
contents_byte(uint64_t id, uint64_t at)
{
	uint64_t block = get_block(id, at / BLOCK);

	return ((const unsigned char *)&block)[at % BLOCK];
}

size_t
contents_compare(uint64_t id, uint64_t at, const char *p, size_t n)
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
	while (
	    done < n && (unsigned char)p[done] == contents_byte(id, at + done))
		done++;
	return done;
}
