#include "jsonnode.h"
#include "mem.h"
#include "str.h"

#include <endian.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define DEPTH 1000 /* objects and arrays in each other */
#define LONG 65536 /* a text that is mostly numbers, not kept */
#define FEW 64     /* members that are compared with each other */

/*
 * A copy of the text is parsed where it lies: strings stay there, decoded and
 * ended by a NUL. A NUL behind the text makes every look at the end safe.
 */
struct scan {
	char *s, *end;
	char *at;        /* the trouble; NULL: it has no place */
	const char *why; /* NULL: it follows from the place */
	struct room *room;
	bool copy;    /* the text is dropped: strings are copied */
	double *nums; /* of the array at work */
	size_t cap;
	int depth;
};

/* Takes where its text begins, gives where it ends; NULL: trouble. */
static char *value(struct scan *, char *p, struct json **);

static inline char *
blank(char *p)
{
	while (*p == ' ' || *p == '\n' || *p == '\t' || *p == '\r')
		p++;
	return p;
}

static char *
bad(struct scan *c, char *at, const char *why)
{
	c->at = at;
	c->why = why;
	return NULL;
}

static inline struct json *
node(struct scan *c, enum json_type type)
{
	struct json *j = jsonnode_take(c->room, sizeof *j);

	*j = (struct json){.room = c->room, .type = (unsigned char)type};
	return j;
}

static inline bool
digit(char c)
{
	return c >= '0' && c <= '9';
}

/*
 * Up to 2^53 and 10^22 numbers are exact, and so is one operation on them
 * (Clinger, How to read floating point numbers accurately, 1990, section 3).
 */
static char *
number(struct scan *c, char *p, double *v)
{
	static const double ten[] = {1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7,
	    1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18,
	    1e19, 1e20, 1e21, 1e22};
	char *from = p, *first, *point;
	ptrdiff_t digits, places = 0;
	uint64_t m = 0;

	p += *p == '-';
	first = p;
	while (digit(*p))
		m = 10 * m + (uint64_t)(*p++ - '0');
	if (p == first)
		return bad(c, p, NULL);
	if (*first == '0' && p - first > 1)
		return bad(c, first + 1, NULL);
	digits = p - first;
	if (*p == '.') {
		point = ++p;
		while (digit(*p))
			m = 10 * m + (uint64_t)(*p++ - '0');
		places = p - point;
		digits += places;
		if (!places)
			return bad(c, p, NULL);
	}
	if ((*p | 0x20) == 'e') {
		p++;
		p += *p == '+' || *p == '-';
		if (!digit(*p))
			return bad(c, p, NULL);
		while (digit(*p))
			p++;
		digits = 99; /* slowly */
	}
	if (digits <= 19 && m <= UINT64_C(1) << 53 && places <= 22) {
		*v = places ? (double)m / ten[places] : (double)m;
		*v = *from == '-' ? -*v : *v;
		return p;
	}
	*v = strtod(from, NULL); /* it reads what was read above */
	return isfinite(*v) ? p : bad(c, from, "a number is too large");
}

static int
hex4(const char *p)
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

static char *
utf8(char *to, unsigned u)
{
	if (u < 0x80) {
		*to++ = (char)u;
		return to;
	}
	if (u >= 0x10000) {
		*to++ = (char)(0xf0 | u >> 18);
		*to++ = (char)(0x80 | (u >> 12 & 0x3f));
	} else if (u >= 0x800) {
		*to++ = (char)(0xe0 | u >> 12);
	} else {
		*to++ = (char)(0xc0 | u >> 6);
		*to++ = (char)(0x80 | (u & 0x3f));
		return to;
	}
	*to++ = (char)(0x80 | (u >> 6 & 0x3f));
	*to++ = (char)(0x80 | (u & 0x3f));
	return to;
}

/* 'p' is behind the "\u". A pair of surrogates is one character. */
static char *
unicode(struct scan *c, char *p, char **to)
{
	int u = hex4(p), low;

	if (u <= 0 || (u >= 0xdc00 && u <= 0xdfff))
		return bad(c, p, NULL);
	p += 4;
	if (u >= 0xd800 && u <= 0xdbff) {
		if (p[0] != '\\' || p[1] != 'u')
			return bad(c, p, NULL);
		low = hex4(p + 2);
		if (low < 0xdc00 || low > 0xdfff)
			return bad(c, p, NULL);
		u = 0x10000 + ((u & 0x3ff) << 10) + (low & 0x3ff);
		p += 6;
	}
	*to = utf8(*to, (unsigned)u);
	return p;
}

static char *
escape(struct scan *c, char *p, char **to)
{
	static const char letters[] = "\"\\/bfnrt", means[] = "\"\\/\b\f\n\r\t";
	const char *l = *p ? strchr(letters, *p) : NULL;

	if (*p == 'u')
		return unicode(c, p + 1, to);
	if (!l)
		return bad(c, p, NULL);
	*(*to)++ = means[l - letters];
	return p + 1;
}

/*
 * The first control character, quote or backslash. Eight bytes at once: in
 * the mask the lowest bit that is set is right, those above it need not be.
 */
static inline char *
plain(char *p)
{
	const uint64_t ones = UINT64_C(0x0101010101010101), high = ones << 7;
	uint64_t w, q, b, hit;

	for (;; p += 8) {
		memcpy(&w, p, sizeof w);
		w = le64toh(w);
		q = w ^ ones * '"';
		b = w ^ ones * '\\';
		hit = ((w - ones * 0x20) & ~w) | ((q - ones) & ~q) |
		    ((b - ones) & ~b);
		if (hit & high)
			return p + __builtin_ctzll(hit & high) / 8;
	}
}

/* The string that begins behind the quote before 'p'. */
static inline char *
string(struct scan *c, char *p, char **s, size_t *n)
{
	char *q = plain(p), *to = q;

	*s = p;
	/* An escape is never shorter than what it means. */
	while (*q == '\\') {
		p = escape(c, q + 1, &to);
		if (!p)
			return NULL;
		q = plain(p);
		memmove(to, p, (size_t)(q - p));
		to += q - p;
	}
	if (*q != '"')
		return bad(c, q, NULL);
	*to = '\0';
	*n = (size_t)(to - *s);
	if (c->copy)
		*s = memcpy(jsonnode_take(c->room, *n + 1), *s, *n + 1);
	return q + 1;
}

/* Where the array of numbers alone ends; NULL: it is another one. */
static char *
numbers(struct scan *c, char *p, struct json *j)
{
	size_t n = 0;
	double v;

	for (;; p = blank(p + 1)) {
		if (*p != '-' && !digit(*p))
			return NULL;
		p = number(c, p, &v);
		if (!p)
			return NULL;
		c->nums = mem_grow(c->nums, n, &c->cap, sizeof *c->nums);
		c->nums[n++] = v;
		p = blank(p);
		if (*p == ']')
			break;
		if (*p != ',')
			return NULL;
	}
	j->packed = true;
	j->u.nums = jsonnode_take(c->room, n * sizeof v);
	memcpy(j->u.nums, c->nums, n * sizeof v);
	j->v.n = n;
	return p + 1;
}

static void
append(struct json *to, struct json *j)
{
	if (to->v.last)
		to->v.last->next = j;
	else
		to->u.child = j;
	to->v.last = j;
}

static char *
array(struct scan *c, char *p, struct json *j)
{
	struct json *k;
	char *packed;

	p = blank(p);
	if (*p == ']')
		return p + 1;
	packed = numbers(c, p, j);
	if (packed)
		return packed;
	for (;; p++) {
		p = value(c, p, &k);
		if (!p)
			return NULL;
		append(j, k);
		p = blank(p);
		if (*p == ']')
			return p + 1;
		if (*p != ',')
			return bad(c, p, NULL);
	}
}

static bool
same_key(const struct json *a, const struct json *b)
{
	return a->keylen == b->keylen && memcmp(a->key, b->key, a->keylen) == 0;
}

/* The last member's key came before; *bits remembers what keys look like. */
static bool
doubled(const struct json *j, uint64_t *bits)
{
	const struct json *last = j->v.last;
	const char *k = last->key;
	size_t n = last->keylen;
	unsigned look = (unsigned)n;

	if (n)
		look = look * 31 + (unsigned char)k[0] * 7 +
		    (unsigned char)k[n / 2] * 11 + (unsigned char)k[n / 4] * 3 +
		    (unsigned char)k[n - 1] * 5;
	look &= 63;
	if (!(*bits >> look & 1)) {
		*bits |= UINT64_C(1) << look;
		return false;
	}
	for (const struct json *m = j->u.child; m != last; m = m->next)
		if (same_key(m, last))
			return true;
	return false;
}

static bool
many_doubled(const struct json *j)
{
	bool twice = false;
	size_t n;
	struct json **v = jsonnode_sorted(j, &n);

	for (size_t i = 1; i < n && !twice; i++)
		twice = same_key(v[i - 1], v[i]);
	free(v);
	return twice;
}

static char *
member(struct scan *c, char *p, struct json *j)
{
	struct json *k;
	size_t n;
	char *key;

	if (*p != '"')
		return bad(c, p, NULL);
	p = string(c, p + 1, &key, &n);
	if (!p)
		return NULL;
	p = blank(p);
	if (*p != ':')
		return bad(c, p, NULL);
	p = value(c, p + 1, &k);
	if (!p)
		return NULL;
	k->key = key;
	k->keylen = (uint32_t)n;
	append(j, k);
	return blank(p);
}

static char *
object(struct scan *c, char *p, struct json *j)
{
	uint64_t bits = 0;
	size_t n = 0;
	bool twice = false;

	p = blank(p);
	if (*p == '}')
		return p + 1;
	for (;; p = blank(p + 1)) {
		p = member(c, p, j);
		if (!p)
			return NULL;
		if (++n <= FEW)
			twice |= doubled(j, &bits);
		if (*p == '}')
			break;
		if (*p != ',')
			return bad(c, p, NULL);
	}
	if (twice || (n > FEW && many_doubled(j)))
		return bad(c, NULL, "a key stands twice in one object");
	return p + 1;
}

static char *
word(struct scan *c, char *p, struct json **out)
{
	static const struct {
		const char *text;
		enum json_type type;
		double num;
	} words[] = {{"true", JSON_BOOL, 1}, {"false", JSON_BOOL, 0},
	    {"null", JSON_NULL, 0}};

	for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
		size_t n = strlen(words[i].text);

		if (strncmp(p, words[i].text, n) != 0)
			continue;
		*out = node(c, words[i].type);
		(*out)->u.num = words[i].num;
		return p + n;
	}
	return bad(c, p, NULL);
}

static char *
value(struct scan *c, char *p, struct json **out)
{
	p = blank(p);
	if (*p == '"') {
		*out = node(c, JSON_STRING);
		return string(c, p + 1, &(*out)->u.str, &(*out)->v.n);
	}
	if (*p == '-' || digit(*p)) {
		*out = node(c, JSON_NUMBER);
		return number(c, p, &(*out)->u.num);
	}
	if (*p != '{' && *p != '[')
		return word(c, p, out);
	if (++c->depth > DEPTH)
		return bad(c, p, "it is nested too deeply");
	*out = node(c, *p == '{' ? JSON_OBJECT : JSON_ARRAY);
	p = *p == '{' ? object(c, p + 1, *out) : array(c, p + 1, *out);
	c->depth--;
	return p;
}

/* A NUL byte, or one written as an escape. */
static bool
holds_nul(const char *s, size_t n)
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

struct json *
json_parse(const char *s, size_t n, const char **why, size_t *at)
{
	struct scan c = {.room = jsonnode_room(n), .copy = n >= LONG};
	const char *dummy;
	struct json *j = NULL;
	size_t none;
	char *p;

	why = why ? why : &dummy;
	at = at ? at : &none;
	*why = NULL;
	*at = 0;
	/* Eight bytes are looked at where one is left. */
	c.s =
	    c.copy ? mem_resize(NULL, n + 8, 1) : jsonnode_take(c.room, n + 8);
	c.end = c.s + n;
	if (n)
		memcpy(c.s, s, n);
	memset(c.end, 0, 8);
	p = value(&c,
	    n >= 3 && memcmp(s, "\xef\xbb\xbf", 3) == 0 ? c.s + 3 : c.s, &j);
	if (p && (p = blank(p)) < c.end)
		p = bad(&c, p, "something follows the value");
	*at = !p && c.at ? (size_t)(c.at - c.s) : 0;
	free(c.nums);
	if (c.copy)
		free(c.s);
	if (p && str_utf8(s, n)) {
		j->holds = true;
		return j;
	}
	if (holds_nul(s, n))
		*why = "it holds a NUL", *at = 0;
	else if (!str_utf8(s, n))
		*why = "it is not UTF-8", *at = 0;
	else if (c.why)
		*why = c.why;
	else
		*why = *at >= n ? "it ends too early" : "it is not JSON";
	jsonnode_drop(c.room);
	return NULL;
}
