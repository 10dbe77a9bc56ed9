/*
 * HdrHistogram V2, deflated, base64: the text that other HDR tools read and
 * write. Source: HdrHistogram's "V2 encoding" (cookie 0x1c849303, ZigZag
 * LEB128-64b9B) and V2 compressed (cookie 0x1c849304, zlib). V1 (0x1c849301,
 * 0x1c849302: counts as words of a fixed size) is read as well. The format has
 * no cell for values above the range: they are counted in the last cell.
 */
#ifndef HISTCODEC_H
#define HISTCODEC_H

#include <stddef.h>

struct hist;
struct str;

void histcodec_encode(struct str *, const struct hist *);

/* Returns NULL if the text is invalid: *why (static) says what is wrong. */
struct hist *histcodec_decode(const char *text, size_t n, const char **why);

#endif
