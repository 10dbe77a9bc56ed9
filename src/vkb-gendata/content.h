/* What a row has in a field, as the field's transforms make it. */
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
	uint64_t row, rows; /* from 1 */
	uint64_t seed;      /* as asked for */
	uint64_t salt;      /* seed and name of the file */
	size_t field;       /* from 0 */
	size_t size;        /* characters at most */
	const struct vocabulary *words;
	struct pyrandom *py; /* to draw from, of the thread */
	const char *article; /* NULL: the built-in text */
	size_t article_len;
};

/* Adds to, or replaces, what 's' has: the content of the cell so far. */
void content_apply(
    const struct transform *, const struct cell *, struct str *s);

/*
 * So many rows, from the first on, have the same content of these transforms,
 * and the next so many again; 0: all have.
 */
uint64_t content_period(const struct transform *, size_t n);

/*
 * How much of a content, from its beginning, is text of an encyclopedia once
 * the transform was applied; 'text' is what it was before. 0: none.
 */
size_t content_text(const struct transform *, size_t text, const struct str *s);

/*
 * Takes words off the end of the first 'text' bytes until all of it has so
 * many characters: what was added behind a text shall not be cut off.
 */
void content_make_room(struct str *, size_t text, size_t characters);

/* Cuts a content at so many characters of UTF-8. */
void content_cut(struct str *, size_t characters);

#endif
