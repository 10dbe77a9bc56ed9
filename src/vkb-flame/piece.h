/* A piece of a file in memory, and the numbers in it: host order, not aligned.
 */
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

/* Empty where it is outside. */
static inline struct piece
piece_part(struct piece of, uint64_t at, uint64_t n)
{
	if (at > of.n || n > of.n - at)
		return (struct piece){of.p, 0};
	return (struct piece){of.p + at, n};
}

/* The next u64 of a piece, which it is cut from; false: there is none. */
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
