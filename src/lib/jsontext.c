#include "jsontext.h"
#include "jsonscan.h"
#include "num.h"
#include "str.h"

#include <math.h>
#include <string.h>

static int
parse_hex4(const char *p)
{
	int v = 0;

	for (int i = 0; i < 4; i++) {
		int d = p[i];

		if (d >= '0' && d <= '9')
			d -= '0';
		else if ((d | 0x20) >= 'a' && (d | 0x20) <= 'f')
			d = (d | 0x20) - 'a' + 10;
		else
			return -1;
		v = v << 4 | d;
	}
	return v;
}

static const char *
fail_at(const char *p, const char **at)
{
	*at = p;
	return NULL;
}

/* Reads the digits after "\u" at 'p'. A pair of surrogates is one character. */
static const char *
parse_unicode(const char *p, int *u, const char **at)
{
	int low;

	*u = parse_hex4(p);
	if (*u <= 0 || (*u >= 0xdc00 && *u <= 0xdfff))
		return fail_at(p, at);
	p += 4;
	if (*u >= 0xd800 && *u <= 0xdbff) {
		if (p[0] != '\\' || p[1] != 'u')
			return fail_at(p, at);
		low = parse_hex4(p + 2);
		if (low < 0xdc00 || low > 0xdfff)
			return fail_at(p, at);
		*u = 0x10000 + ((*u & 0x3ff) << 10) + (low & 0x3ff);
		p += 6;
	}
	return p;
}

const char *
jsontext_escape(const char *p, int *u, const char **at)
{
	static const char letters[] = "\"\\/bfnrt", means[] = "\"\\/\b\f\n\r\t";
	const char *l = *p ? strchr(letters, *p) : NULL;

	if (*p == 'u')
		return parse_unicode(p + 1, u, at);
	if (!l)
		return fail_at(p, at);
	*u = means[l - letters];
	return p + 1;
}

int
jsontext_order(const struct jsonscan_text *a, const struct jsonscan_text *b)
{
	struct str x = {0}, y = {0};
	size_t n = a->n < b->n ? a->n : b->n;
	int c;

	if (!a->escaped && !b->escaped) {
		c = memcmp(a->s, b->s, n);
		return c ? c : (a->n > b->n) - (a->n < b->n);
	}
	jsontext_resolve(&x, a);
	jsontext_resolve(&y, b);
	c = strcmp(x.s, y.s);
	str_free(&x);
	str_free(&y);
	return c;
}

void
jsontext_resolve(struct str *to, const struct jsonscan_text *t)
{
	const char *p = t->s, *end = t->s + t->n, *q, *none;
	int u;

	while ((q = memchr(p, '\\', (size_t)(end - p)))) {
		str_addn(to, p, (size_t)(q - p));
		p = jsontext_escape(q + 1, &u, &none);
		str_addu(to, (unsigned)u);
	}
	str_addn(to, p, (size_t)(end - p));
}

/* Adds bytes that need no escape. What is not UTF-8, as in the name of a file,
 * becomes U+FFFD, or the text would not be JSON. */
static void
add_plain(struct str *b, const char *s, size_t n)
{
	unsigned c;
	size_t k;

	if (str_utf8(s, n)) {
		str_addn(b, s, n);
		return;
	}
	for (; n; s += k, n -= k) {
		k = str_decode(s, n, &c);
		str_addu(b, k ? c : 0xfffd);
		k = k ? k : 1;
	}
}

void
jsontext_quote(struct str *b, const char *s)
{
	static const char letters[] = "btn-fr"; /* of 8 to 13 */
	size_t plain;

	str_addc(b, '"');
	for (;; s++) {
		for (plain = 0; (unsigned char)s[plain] >= ' ' &&
		     s[plain] != '"' && s[plain] != '\\';
		     plain++)
			;
		add_plain(b, s, plain);
		s += plain;
		if (!*s)
			break;
		str_addc(b, '\\');
		if (*s == '"' || *s == '\\')
			str_addc(b, *s);
		else if (*s >= 8 && *s <= 13 && *s != 11)
			str_addc(b, letters[*s - 8]);
		else
			str_printf(b, "u%04x", (unsigned char)*s);
	}
	str_addc(b, '"');
}

void
jsontext_comma(struct str *b)
{
	char last = b->len ? b->s[b->len - 1] : '\0';

	if (last != '{' && last != '[')
		str_addc(b, ',');
}

void
jsontext_key(struct str *b, const char *key)
{
	jsontext_comma(b);
	str_addc(b, '"');
	str_add(b, key);
	str_addn(b, "\":", 2);
}

void
jsontext_num(struct str *b, const char *key, double v)
{
	if (!isfinite(v))
		return;
	jsontext_key(b, key);
	num_append(b, v);
}

void
jsontext_str(struct str *b, const char *key, const char *s)
{
	if (!s)
		return;
	jsontext_key(b, key);
	jsontext_quote(b, s);
}

void
jsontext_true(struct str *b, const char *key)
{
	jsontext_key(b, key);
	str_add(b, "true");
}

bool
jsontext_holds_nul(const char *s, size_t n)
{
	const char *p = s, *q;

	if (memchr(s, '\0', n))
		return true;
	while ((p = memmem(p, n - (size_t)(p - s), "\\u0000", 6))) {
		for (q = p; q > s && q[-1] == '\\'; q--)
			;
		if ((p - q) % 2 == 0)
			return true;
		p += 6;
	}
	return false;
}
