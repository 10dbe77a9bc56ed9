#include "base64.h"
#include "str.h"

#include <limits.h>
#include <string.h>

static const char digit64[] =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

void
base64_encode(struct str *s, const void *bytes, size_t n)
{
	const unsigned char *p = bytes;
	char out[4];
	unsigned v;
	size_t i;

	for (i = 0; i < n; i += 3) {
		v = (unsigned)p[i] << 16;
		v |= i + 1 < n ? (unsigned)p[i + 1] << 8 : 0;
		v |= i + 2 < n ? p[i + 2] : 0;
		out[0] = digit64[v >> 18];
		out[1] = digit64[v >> 12 & 63];
		out[2] = i + 1 < n ? digit64[v >> 6 & 63] : '=';
		out[3] = i + 2 < n ? digit64[v & 63] : '=';
		str_addn(s, out, 4);
	}
}

long
base64_decode(const char *text, size_t n, unsigned char *out)
{
	unsigned char *o = out;
	const char *d;
	unsigned v = 0;
	size_t i, pad = 0;

	if (n % 4 || n > LONG_MAX / 2)
		return -1;
	while (pad < 2 && pad < n && text[n - 1 - pad] == '=')
		pad++;
	for (i = 0; i < n; i++) {
		d = i >= n - pad ? digit64
				 : memchr(digit64, text[i], sizeof digit64 - 1);
		if (!d)
			return -1;
		v = v << 6 | (unsigned)(d - digit64);
		if (i % 4 != 3)
			continue;
		*o++ = (unsigned char)(v >> 16);
		*o++ = (unsigned char)(v >> 8);
		*o++ = (unsigned char)v;
	}
	return (long)(o - out) - (long)pad;
}
