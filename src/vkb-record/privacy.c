#include "privacy.h"
#include "err.h"
#include "hash.h"
#include "mem.h"
#include "str.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#define SALT 32
#define DIGITS_MOST 18 /* of a number, so that it stays below 2^63 */
#define SHORT 12       /* characters; shorter texts are permuted */
#define ROUNDS 10      /* as many as FF1 (NIST SP 800-38G) has */
#define PRINTABLE 92   /* characters of ASCII but space and braces */

enum kind { NUMBER, TEXT, BYTES, BRACES };

struct privacy {
	unsigned char salt[SALT];
};

struct privacy *
privacy_new(const unsigned char *salt)
{
	struct privacy *p = mem_new(sizeof *p);

	if (salt)
		memcpy(p->salt, salt, SALT);
	else if (getrandom(p->salt, SALT, 0) != SALT)
		err_die("cannot get random bytes");
	return p;
}

void
privacy_free(struct privacy *p)
{
	free(p);
}

static bool
is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Is it -?DIGITS or -?DIGITS.DIGITS, as the server writes numbers? */
static bool
is_number(const char *s, size_t n)
{
	size_t i = n && *s == '-', whole, digits;

	for (whole = i; i < n && is_digit(s[i]); i++)
		continue;
	digits = i - whole;
	if (!digits || (digits > 1 && s[whole] == '0'))
		return false;
	if (i == n && s[whole] == '0')
		return !whole; /* the server does not take "-0" */
	if (i < n && s[i] == '.') {
		if (++i == n)
			return false;
		for (; i < n && is_digit(s[i]); i++)
			digits++;
	}
	return i == n && digits <= DIGITS_MOST;
}

static enum kind
find_kind(const char *s, size_t n)
{
	bool text = true, braces = false;

	if (is_number(s, n))
		return NUMBER;
	for (size_t i = 0; i < n; i++) {
		braces |= s[i] == '{' || s[i] == '}';
		text &= s[i] > ' ' && s[i] < 127;
	}
	return braces ? BRACES : text ? TEXT : BYTES;
}

/* The printable characters as numbers below PRINTABLE, and back. */
static unsigned
number_character(char c)
{
	return (unsigned)(c - '!') - (c > '{') - (c > '}');
}

static char
get_character(unsigned i)
{
	char c = (char)('!' + i);

	c = (char)(c + (c >= '{'));
	return (char)(c + (c >= '}'));
}

/* Computes the keyed digest of a text and what it is for. */
static void
compute_digest(const struct privacy *p, unsigned round, unsigned radix,
    const unsigned char *s, size_t n, unsigned char sum[32])
{
	unsigned char text[SALT + 4 + 32];

	memcpy(text, p->salt, SALT);
	text[SALT] = (unsigned char)round;
	text[SALT + 1] = (unsigned char)(radix >> 8);
	text[SALT + 2] = (unsigned char)radix;
	text[SALT + 3] = (unsigned char)n;
	if (n <= 32) {
		memcpy(text + SALT + 4, s, n);
		hash_bytes(text, SALT + 4 + n, sum);
		return;
	}
	hash_bytes(s, n, text + SALT + 4);
	text[SALT + 3] = 255;
	hash_bytes(text, sizeof text, sum);
}

/* Permutes one digit: by its place in an order that the digests give. */
static void
permute_digit(const struct privacy *p, unsigned radix, unsigned char *d)
{
	unsigned char own[32], other[32], c;
	unsigned rank = 0;

	compute_digest(p, ROUNDS, radix, d, 1, own);
	for (unsigned i = 0; i < radix; i++) {
		c = (unsigned char)i;
		compute_digest(p, ROUNDS, radix, &c, 1, other);
		rank += memcmp(other, own, sizeof own) < 0;
	}
	*d = (unsigned char)rank;
}

/*
 * Permutes n digits below 'radix', n at most DIGITS_MOST: a Feistel network
 * whose halves are added digit by digit, so that each round is a bijection.
 */
static void
permute_digits(
    const struct privacy *p, unsigned radix, unsigned char *d, size_t n)
{
	unsigned char *half[2] = {d, d + n / 2}, sum[32];
	size_t len[2] = {n / 2, n - n / 2};
	unsigned to;

	if (n == 1) {
		permute_digit(p, radix, d);
		return;
	}
	for (unsigned r = 0; r < ROUNDS; r++) {
		to = r % 2;
		compute_digest(
		    p, r, radix * 64 + (unsigned)n, half[!to], len[!to], sum);
		for (size_t i = 0; i < len[to]; i++)
			half[to][i] = (unsigned char)((half[to][i] +
							  (sum[2 * i] << 8 |
							      sum[2 * i + 1])) %
			    radix);
	}
}

/*
 * Permutes a short text until the result is of its kind: a bijection of the
 * kind, since each result comes from one text only.
 */
static void
permute_text(const struct privacy *p, enum kind kind, char *s, size_t n)
{
	unsigned radix = kind == NUMBER ? 10 : kind == TEXT ? PRINTABLE : 256;
	unsigned char d[DIGITS_MOST];
	size_t k;

	do {
		k = 0;
		for (size_t i = 0; i < n; i++)
			if (kind == NUMBER && is_digit(s[i]))
				d[k++] = (unsigned char)(s[i] - '0');
			else if (kind == TEXT)
				d[k++] = (unsigned char)number_character(s[i]);
			else if (kind != NUMBER)
				d[k++] = (unsigned char)s[i];
		permute_digits(p, radix, d, k);
		k = 0;
		for (size_t i = 0; i < n; i++)
			if (kind == NUMBER && is_digit(s[i]))
				s[i] = (char)('0' + d[k++]);
			else if (kind == TEXT)
				s[i] = get_character(d[k++]);
			else if (kind != NUMBER)
				s[i] = (char)d[k++];
	} while (find_kind(s, n) != kind);
}

/* Fills a long text with characters that its digest gives. */
static void
hash_text(const struct privacy *p, enum kind kind, char *s, size_t n)
{
	unsigned char sum[32], next[36];
	uint32_t block = 0;
	size_t i, k;

	compute_digest(p, ROUNDS + 1, 256, (unsigned char *)s, n, next);
	for (i = 0; i < n; i += 32, block++) {
		memcpy(next + 32, &block, sizeof block);
		hash_bytes(next, sizeof next, sum);
		for (k = 0; k < 32 && i + k < n; k++)
			s[i + k] = kind == TEXT
			    ? get_character(sum[k] % PRINTABLE)
			    : (char)sum[k];
	}
	for (i = 0; kind == BYTES && i < n; i++)
		if (s[i] == '{' || s[i] == '}')
			s[i] = '|';
}

void
privacy_add_value(struct privacy *p, const char *s, size_t n, struct str *to)
{
	enum kind kind = find_kind(s, n);
	size_t at = to->len;

	if (!n)
		return;
	str_addn(to, s, n);
	if (kind == NUMBER || n < SHORT)
		permute_text(p, kind, to->s + at, n);
	else
		hash_text(p, kind, to->s + at, n);
}

void
privacy_add_key(struct privacy *p, const char *s, size_t n, struct str *to)
{
	const char *open = memchr(s, '{', n), *end = s + n, *close = NULL;

	if (open)
		close = memchr(open + 1, '}', (size_t)(end - open - 1));
	if (!close || close == open + 1) {
		privacy_add_value(p, s, n, to);
		return;
	}
	privacy_add_value(p, s, (size_t)(open - s), to);
	str_addc(to, '{');
	privacy_add_value(p, open + 1, (size_t)(close - open - 1), to);
	str_addc(to, '}');
	privacy_add_value(p, close + 1, (size_t)(end - close - 1), to);
}
