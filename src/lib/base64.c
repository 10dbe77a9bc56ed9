#include "base64.h"
#include "str.h"

#include <limits.h>
#include <string.h>

static const char base64_digits[] =
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
		out[0] = base64_digits[v >> 18];
		out[1] = base64_digits[v >> 12 & 63];
		out[2] = i + 1 < n ? base64_digits[v >> 6 & 63] : '=';
		out[3] = i + 2 < n ? base64_digits[v & 63] : '=';
		str_addn(s, out, 4);
	}
}

/* Decodes four digits. Returns -1 if one of them is not a base64 digit. */
static int
decode_quad(unsigned char *o, const char *text, const unsigned char *value)
{
	unsigned a = value[(unsigned char)text[0]];
	unsigned b = value[(unsigned char)text[1]];
	unsigned c = value[(unsigned char)text[2]];
	unsigned d = value[(unsigned char)text[3]];

	if ((a | b | c | d) & 0x80)
		return -1;
	o[0] = (unsigned char)(a << 2 | b >> 4);
	o[1] = (unsigned char)(b << 4 | c >> 2);
	o[2] = (unsigned char)(c << 6 | d);
	return 0;
}

long
base64_decode(const char *text, size_t n, unsigned char *out)
{
	unsigned char value[UCHAR_MAX + 1], *o = out;
	char last[4];
	size_t i, pad = 0;

	if (n % 4 || n > LONG_MAX / 2)
		return -1;
	if (n == 0)
		return 0;
	memset(value, 0x80, sizeof value);
	for (i = 0; i < 64; i++)
		value[(unsigned char)base64_digits[i]] = (unsigned char)i;
	for (i = 0; i < n - 4; i += 4, o += 3)
		if (decode_quad(o, text + i, value) < 0)
			return -1;
	memcpy(last, text + i, sizeof last);
	for (; pad < 2 && last[3 - pad] == '='; pad++)
		last[3 - pad] = base64_digits[0];
	if (decode_quad(o, last, value) < 0)
		return -1;
	return (long)(o - out) + 3 - (long)pad;
}
