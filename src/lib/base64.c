#include "base64.h"
#include "str.h"

#include <limits.h>
#include <string.h>

#include <openssl/evp.h>

#define PIECE 3072 /* bytes that are encoded at once */

void
base64_encode(struct str *s, const void *bytes, size_t n)
{
	unsigned char text[PIECE / 3 * 4 + 1];
	const unsigned char *p = bytes;

	for (size_t k; n; p += k, n -= k) {
		k = n < PIECE ? n : PIECE;
		str_addn(s, text, (size_t)EVP_EncodeBlock(text, p, (int)k));
	}
}

/* OpenSSL skips blanks at both ends, and takes each '=' for a digit. */
long
base64_decode(const char *text, size_t n, unsigned char *out)
{
	size_t pad = 0;

	while (pad < 2 && pad < n && text[n - 1 - pad] == '=')
		pad++;
	if (n % 4 || n > INT_MAX || memchr(text, '=', n - pad) ||
	    EVP_DecodeBlock(out, (const unsigned char *)text, (int)n) !=
		(int)(n / 4 * 3))
		return -1;
	return (long)(n / 4 * 3 - pad);
}
