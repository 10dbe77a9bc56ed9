/* Base64 (RFC 4648, section 4) with padding and without line breaks. */
#ifndef BASE64_H
#define BASE64_H

#include <stddef.h>

struct str;

void base64_encode(struct str *, const void *bytes, size_t n);

/* The number of bytes in 'out' (room for n / 4 * 3), or -1: it is not such. */
long base64_decode(const char *text, size_t n, unsigned char *out);

#endif
