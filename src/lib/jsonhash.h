/*
 * Hashes of JSON values: equal values have equal hashes, whatever the order of
 * their keys and the way they are written. jsonscan.c computes them. Mixes both
 * halves of a product, as wyhash does (Wang Yi, public domain).
 */
#ifndef JSONHASH_H
#define JSONHASH_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

static inline uint64_t
jsonhash_mix(uint64_t a, uint64_t b)
{
	unsigned __int128 p = (unsigned __int128)(a ^ 0xa0761d6478bd642fULL) *
	    (b ^ 0xe7037ed1a0b428dbULL);

	return (uint64_t)p ^ (uint64_t)(p >> 64);
}

/* Hashes any bytes. */
uint64_t jsonhash_bytes(uint64_t h, const char *s, size_t n);

static inline uint64_t
jsonhash_number(double v)
{
	uint64_t u;

	v += 0.; /* -0 is 0 */
	memcpy(&u, &v, sizeof u);
	return jsonhash_mix(1, u);
}

static inline uint64_t
jsonhash_string(const char *s, size_t n)
{
	return jsonhash_bytes(2, s, n);
}

/* false, true and null are jsonhash_mix(3, 0), (3, 1) and (3, 2). An array is
 * JSONHASH_ARRAY, mixed with each element in turn. */
#define JSONHASH_WORD UINT64_C(3)
#define JSONHASH_ARRAY UINT64_C(4)

/* Add up jsonhash_member of all members, from 0, and give the sum to
 * jsonhash_object. */
static inline uint64_t
jsonhash_key(const char *key, size_t n)
{
	return jsonhash_bytes(6, key, n);
}

static inline uint64_t
jsonhash_member(const char *key, size_t n, uint64_t value)
{
	return jsonhash_mix(jsonhash_key(key, n), value);
}

static inline uint64_t
jsonhash_object(uint64_t sum)
{
	return jsonhash_mix(5, sum);
}

#endif
