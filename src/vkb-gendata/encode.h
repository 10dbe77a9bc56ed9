/*
 * Encodes rows as CSV (RFC 4180, quoted only where needed, CRLF), as TSV (the
 * same with tabs and LF), XML, JSON lines, NPY (one structured record per row)
 * and fvecs (per vector its dimension d and d floats).
 */
#ifndef ENCODE_H
#define ENCODE_H

#include <stddef.h>
#include <stdint.h>

struct recipe_file;
struct str;

/* Append the text before the first row and after the last. */
void encode_head(struct str *, const struct recipe_file *);
void encode_foot(struct str *, const struct recipe_file *);

/* Append one row: encode_begin, each cell in order, encode_end. */
void encode_begin(struct str *, const struct recipe_file *, uint64_t row);
void encode_text(struct str *, const struct recipe_file *, size_t field,
    const struct str *content);
/* 'v' has as many floats as the field has dimensions. */
void encode_vector(
    struct str *, const struct recipe_file *, size_t field, const float *v);
void encode_end(struct str *, const struct recipe_file *);

/* Appends 'v' in little-endian byte order. */
void encode_uint32(struct str *, uint32_t v);

#endif
