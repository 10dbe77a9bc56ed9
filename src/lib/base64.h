/* Base64 (RFC 4648, section 4) with padding and without line breaks. */
#ifndef BASE64_H
#define BASE64_H

#include <stddef.h>

struct str;

void base64_encode(struct str *, const void *bytes, size_t n);

/* Decodes n characters to 'out' (room for n / 4 * 3 bytes). Returns the number
 * of bytes, or -1 if the text is not base64. */
long base64_decode(const char *text, size_t n, unsigned char *out);

#endif
