/* What a row has in a field, as the field's transforms make it. */
#ifndef CONTENT_H
#define CONTENT_H

#include <stddef.h>
#include <stdint.h>

#include "str.h"

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
	const char *article; /* NULL: the built-in text */
	size_t article_len;
};

/* What is kept from row to row, one for each thread; starts as {0}. */
struct content_memo {
	uint64_t term, variant; /* of the fuzzy words there are; 0: none */
	struct str word, variant_word;
	const struct transform *owner;
	size_t field;
};

void content_memo_free(struct content_memo *);

/* Adds to, or replaces, what 's' has: the content of the cell so far. */
void content_apply(const struct transform *, const struct cell *,
    struct content_memo *, struct str *s);

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
