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

/* Hashes 0 (false), 1 (true) or 2 (null). */
static inline uint64_t
jsonhash_word(uint64_t v)
{
	return jsonhash_mix(3, v);
}

/* Start with JSONHASH_ARRAY and add the elements. */
#define JSONHASH_ARRAY UINT64_C(4)
static inline uint64_t
jsonhash_element(uint64_t h, uint64_t value)
{
	return jsonhash_mix(h, value);
}

/* Add up jsonhash_member of all members, from 0, and give the sum to
 * jsonhash_object. */
static inline uint64_t
jsonhash_key(const char *key, size_t n)
{
	return jsonhash_bytes(6, key, n);
}

static inline uint64_t
jsonhash_of(uint64_t key, uint64_t value)
{
	return jsonhash_mix(key, value);
}

static inline uint64_t
jsonhash_member(const char *key, size_t n, uint64_t value)
{
	return jsonhash_of(jsonhash_key(key, n), value);
}

static inline uint64_t
jsonhash_object(uint64_t sum)
{
	return jsonhash_mix(5, sum);
}

#endif
