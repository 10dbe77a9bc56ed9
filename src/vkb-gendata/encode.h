/*
 * Rows as the bytes of a file: CSV (RFC 4180, quotes where they must be, CRLF)
 * and the same with tabs and LF, XML, JSON lines, NPY with one structured
 * record a row, and vectors as d and d floats.
 */
#ifndef ENCODE_H
#define ENCODE_H

#include <stddef.h>
#include <stdint.h>

struct recipe_file;
struct str;

/* What stands before the first row and behind the last. */
void encode_head(struct str *, const struct recipe_file *);
void encode_foot(struct str *, const struct recipe_file *);

/* A row is begun, gets its cells in order, and is ended. */
void encode_begin(struct str *, const struct recipe_file *, uint64_t row);
void encode_text(struct str *, const struct recipe_file *, size_t field,
    const struct str *content);
/* 'v' has the field's dimensions. */
void encode_vector(
    struct str *, const struct recipe_file *, size_t field, const float *v);
void encode_end(struct str *, const struct recipe_file *);

#endif
