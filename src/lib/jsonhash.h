/*
 * Hashes of JSON values: equal values give equal ones, whatever the order of
 * their keys and the way they are written. json.c makes them of a tree,
 * jsonscan.c of the text. Both halves of a product, as wyhash mixes (Wang Yi,
 * public domain).
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

/* Any bytes. */
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

/* 0 false, 1 true, 2 null. */
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

/* The sum over the members, from 0, of their keys with their values; and what
 * the object is by it. */
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
