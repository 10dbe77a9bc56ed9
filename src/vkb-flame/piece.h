/* A part of a file in memory, and its numbers in host byte order, not
 * aligned. */
#ifndef PIECE_H
#define PIECE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct piece {
	const unsigned char *p;
	size_t n;
};

static inline uint64_t
piece_u64(const unsigned char *p)
{
	uint64_t v;

	memcpy(&v, p, sizeof v);
	return v;
}

static inline uint32_t
piece_u32(const unsigned char *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof v);
	return v;
}

static inline uint16_t
piece_u16(const unsigned char *p)
{
	uint16_t v;

	memcpy(&v, p, sizeof v);
	return v;
}

/* Returns an empty piece if the range is outside of 'of'. */
static inline struct piece
piece_part(struct piece of, uint64_t at, uint64_t n)
{
	if (at > of.n || n > of.n - at)
		return (struct piece){of.p, 0};
	return (struct piece){of.p + at, n};
}

/* Removes a u64 from the front. Returns false if there is none. */
static inline bool
piece_take(struct piece *from, uint64_t *v)
{
	if (from->n < 8)
		return false;
	*v = piece_u64(from->p);
	from->p += 8;
	from->n -= 8;
	return true;
}

static inline bool
piece_pass(struct piece *from, uint64_t n)
{
	if (n > from->n)
		return false;
	from->p += n;
	from->n -= n;
	return true;
}

#endif
