/* Makes the text of one cell (row and field) by the field's transforms. */
#ifndef CONTENT_H
#define CONTENT_H

#include <stddef.h>
#include <stdint.h>

#include "str.h"

struct pyrandom;
struct transform;
struct vocabulary;

/* The cell that is being made. */
struct cell {
	uint64_t row, rows; /* number from 1, and rows of the file */
	uint64_t seed;      /* of --seed */
	uint64_t salt;      /* hash of seed and file name */
	size_t field;       /* number, from 0 */
	size_t size;        /* most characters of the cell */
	const struct vocabulary *words;
	struct pyrandom *py; /* generator of the thread */
	const char *article; /* plain text; NULL: use the built-in text */
	size_t article_len;
};

/* Appends to or replaces 's', the content of the cell so far. */
void content_apply_transform(
    const struct transform *, const struct cell *, struct str *s);

/*
 * Returns how many leading bytes of 's' are encyclopedia text after the
 * transform was applied; 'text' is that number before it.
 */
size_t content_count_text(
    const struct transform *, size_t text, const struct str *s);

/*
 * Removes words from the end of the first 'text' bytes until all of 's' has at
 * most 'characters' characters, so that content_cut keeps what follows them.
 */
void content_make_room(struct str *, size_t text, size_t characters);

/* Cuts 's' to at most 'characters' characters of UTF-8. */
void content_cut(struct str *, size_t characters);

/*
 * Sets to[0..dims-1] to the vector of the row (from 1), field and file salt: a
 * random one of length 1. Its components are normal before they are scaled, so
 * that all directions are equally likely.
 */
void content_make_vector(
    uint64_t salt, uint64_t row, size_t field, size_t dims, float *to);

#endif
