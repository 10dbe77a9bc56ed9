/*
 * HdrHistogram V2, deflated, base64: the text other HDR tools read and write.
 * Source: HdrHistogram's "V2 encoding" (cookie 0x1c849303, ZigZag LEB128-64b9B)
 * and V2 compressed (cookie 0x1c849304, zlib).
 * V1 (0x1c849301, 0x1c849302: counts as words of a fixed size) is read as well.
 * It cannot say what lies above the range: that is counted in the last cell.
 */
#ifndef HISTCODEC_H
#define HISTCODEC_H

#include <stddef.h>

struct hist;
struct str;

void histcodec_encode(struct str *, const struct hist *);

/* NULL when it is not such a text; *why says what is wrong (static). */
struct hist *histcodec_decode(const char *text, size_t n, const char **why);

#endif
