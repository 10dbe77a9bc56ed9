/*
 * What a JSON value is inside: for json.c, jsonscan.c and jsonprint.c alone.
 *
 * All values of one text live in its room and are freed with it: the root, and
 * each value that was detached, holds the room. What is made by hand stands
 * alone. Numbers that are all of an array are packed: no value of their own.
 */
#ifndef JSONNODE_H
#define JSONNODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "json.h"

struct slab {
	struct slab *next;
	size_t used, size;
	char bytes[];
};

struct room {
	struct slab *slabs; /* the one at work first */
	size_t holders;
	bool mixed; /* something foreign hangs below one of its values */
};

struct json {
	struct json *next;
	char *key; /* NULL in an array */
	union {
		double num; /* and 0 or 1 */
		char *str;
		struct json *child;
		double *nums;
	} u;
	union {
		struct json *last; /* child */
		size_t n;          /* length of str, count of nums */
	} v;
	struct room *room; /* NULL: alone */
	uint32_t keylen;
	unsigned char type;
	bool packed, holds; /* holds: the room lives while this does */
	bool ownkey, ownnums;
};

/* For a text of n bytes, with one holder. */
struct room *jsonnode_room(size_t n);
void jsonnode_drop(struct room *); /* one holder less */
void jsonnode_more(struct room *, size_t size);

/* 'size' bytes of the room, aligned for a double, as they come. */
static inline void *
jsonnode_take(struct room *r, size_t size)
{
	void *p;

	size = (size + 7) & ~(size_t)7;
	if (r->slabs->size - r->slabs->used < size)
		jsonnode_more(r, size);
	p = r->slabs->bytes + r->slabs->used;
	r->slabs->used += size;
	return p;
}

/* A packed array becomes one of values. */
void jsonnode_unpack(struct json *);

/* Members by key, *n of them; caller frees with free(). */
struct json **jsonnode_sorted(const struct json *, size_t *n);

#endif
