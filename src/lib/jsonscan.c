/*
 * Over 500 lines: strings, numbers and members are inlined into the scan of
 * values, by which a million records are read.
 */
#include "jsonscan.h"
#include "jsonhash.h"
#include "jsontext.h"
#include "mem.h"
#include "str.h"

#include <endian.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Where the value that begins at 'p' ends; NULL: trouble. */
static const char *value(struct jsonscan *, const char *p, uint64_t *hash);

static inline const char *
blank(const char *p)
{
	while (*p == ' ' || *p == '\n' || *p == '\t' || *p == '\r')
		p++;
	return p;
}

static const char *
bad(struct jsonscan *c, const char *at, const char *why)
{
	c->failed = true;
	c->at = at;
	c->why = why;
	return NULL;
}

static inline bool
digit(char c)
{
	return c >= '0' && c <= '9';
}

static const char *
exponent(struct jsonscan *c, const char *p)
{
	p++;
	p += *p == '+' || *p == '-';
	if (!digit(*p))
		return bad(c, p, NULL);
	while (digit(*p))
		p++;
	return p;
}

/*
 * Up to 2^53 and 10^22 numbers are exact, and so is one operation on them
 * (Clinger, How to read floating point numbers accurately, 1990, section 3).
 */
static inline const char *
number(struct jsonscan *c, const char *p, double *v)
{
	static const double ten[] = {1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7,
	    1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18,
	    1e19, 1e20, 1e21, 1e22};
	const char *from = p, *first, *point;
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
		p = exponent(c, p);
		if (!p)
			return NULL;
		digits = 99; /* slowly */
	}
	if (digits <= 19 && m <= UINT64_C(1) << 53) {
		*v = places ? (double)m / ten[places] : (double)m;
		*v = *from == '-' ? -*v : *v;
		return p;
	}
	if (p - from > JSONSCAN_DIGITS)
		return bad(c, from, "a number is too long");
	*v = strtod(from, NULL); /* it reads what was read above */
	return isfinite(*v) ? p : bad(c, from, "a number is too large");
}

/*
 * The first control character, quote or backslash. Eight bytes at once: in
 * the mask the lowest bit that is set is right, those above it need not be.
 */
static inline const char *
plain(const char *p, const char *end)
{
	const uint64_t ones = UINT64_C(0x0101010101010101), high = ones << 7;
	uint64_t w, q, b, hit;

	for (; end - p >= 8; p += 8) {
		memcpy(&w, p, sizeof w);
		w = le64toh(w);
		q = w ^ ones * '"';
		b = w ^ ones * '\\';
		hit = ((w - ones * 0x20) & ~w) | ((q - ones) & ~q) |
		    ((b - ones) & ~b);
		if (hit & high)
			return p + __builtin_ctzll(hit & high) / 8;
	}
	while ((unsigned char)*p >= ' ' && *p != '"' && *p != '\\')
		p++;
	return p;
}

/* The string that begins behind the quote before 'p'. */
static inline const char *
string(struct jsonscan *c, const char *p, struct jsonscan_text *t)
{
	const char *at;
	int u;

	t->s = p;
	t->escaped = false;
	for (;;) {
		p = plain(p, c->end);
		if (*p != '\\')
			break;
		t->escaped = true;
		p = jsontext_escape(p + 1, &u, &at);
		if (!p)
			return bad(c, at, NULL);
	}
	if (*p != '"')
		return bad(c, p, NULL);
	t->n = (size_t)(p - t->s);
	return p + 1;
}

static bool
same(const struct jsonscan_text *a, const struct jsonscan_text *b)
{
	if (a->escaped || b->escaped)
		return jsontext_order(a, b) == 0;
	return a->n == b->n && memcmp(a->s, b->s, a->n) == 0;
}

/* A number below 64 that is the same for equal keys. */
static unsigned
look_of(const struct jsonscan_text *key)
{
	const unsigned char *k = (const unsigned char *)key->s;
	size_t n = key->n;
	unsigned look = (unsigned)n;

	if (n)
		look = look * 31 + k[0] * 7 + k[n / 2] * 11 + k[n / 4] * 3 +
		    k[n - 1] * 5;
	return look & 63;
}

/* Up to so many keys are compared with each other, where they look alike. */
static void
note(struct jsonscan_keys *o, const struct jsonscan_text *key)
{
	uint64_t look = UINT64_C(1) << look_of(key);

	if (o->n++ >= JSONSCAN_KEYS)
		return;
	o->v[o->n - 1] = *key;
	for (size_t i = 0; o->expected && i + 1 < o->n; i++)
		o->looks |= UINT64_C(1) << look_of(&o->v[i]);
	o->expected = false;
	if (key->escaped)
		o->looks = UINT64_MAX; /* it may be any */
	else if (!(o->looks & look)) {
		o->looks |= look;
		return;
	}
	for (size_t i = 0; i + 1 < o->n && !o->twice; i++)
		if (same(&o->v[i], key))
			o->twice = key->s - 1;
}

static int
by_text(const void *a, const void *b)
{
	const struct jsonscan_text *x = a, *y = b;
	int c = jsontext_order(x, y);

	return c ? c : (x->s > y->s) - (x->s < y->s);
}

/* Of an object that was scanned once: the second of two of its many keys that
 * are one; NULL: there is none. */
static const char *
many_doubled(const struct jsonscan *c, const struct jsonscan_keys *o)
{
	struct jsonscan again = {
	    .s = c->s, .p = o->from, .end = c->end, .known = true};
	struct jsonscan_text *v = mem_array(o->n, sizeof *v);
	struct jsonscan_keys keys;
	const char *twice = NULL;
	size_t n = 0;

	jsonscan_object(&again, &keys);
	while (n < o->n && jsonscan_member(&again, &keys, &v[n])) {
		jsonscan_value(&again, NULL, NULL);
		n++;
	}
	qsort(v, n, sizeof *v, by_text);
	for (size_t i = 1; i < n && !twice; i++)
		if (jsontext_order(&v[i - 1], &v[i]) == 0)
			twice = v[i].s - 1;
	free(v);
	return twice;
}

static const char *
ended(struct jsonscan *c, const struct jsonscan_keys *o, const char *p)
{
	const char *twice = o->twice;

	c->depth--;
	if (!c->known && !twice && o->n > JSONSCAN_KEYS)
		twice = many_doubled(c, o);
	if (!c->known && twice)
		return bad(c, twice, "a key stands twice in one object");
	return p;
}

static inline const char *
open(struct jsonscan *c, const char *p)
{
	if (++c->depth > JSONSCAN_DEPTH)
		return bad(c, p, "it is nested too deeply");
	return p + 1;
}

static inline void
none_yet(struct jsonscan_keys *o, const char *p)
{
	o->from = p;
	o->n = 0;
	o->looks = 0;
	o->expected = false;
	o->twice = NULL;
}

/* Where the value of the next member begins; *done: there is none. */
static inline const char *
member(struct jsonscan *c, const char *p, struct jsonscan_keys *o,
    struct jsonscan_text *key, bool *done)
{
	p = blank(p);
	*done = *p == '}';
	if (*done)
		return ended(c, o, p + 1);
	if (o->n) {
		if (*p != ',')
			return bad(c, p, NULL);
		p = blank(p + 1);
	}
	if (*p != '"')
		return bad(c, p, NULL);
	p = string(c, p + 1, key);
	if (!p)
		return NULL;
	note(o, key);
	p = blank(p);
	return *p == ':' ? blank(p + 1) : bad(c, p, NULL);
}

static inline const char *
element(struct jsonscan *c, const char *p, bool *first, bool *done)
{
	p = blank(p);
	*done = *p == ']';
	if (*done) {
		c->depth--;
		return p + 1;
	}
	if (!*first) {
		if (*p != ',')
			return bad(c, p, NULL);
		p = blank(p + 1);
	}
	*first = false;
	return p;
}

/* Of what a string means. */
static uint64_t
hash_text(uint64_t (*hash)(const char *, size_t), const struct jsonscan_text *t)
{
	struct str s = {0};
	uint64_t h;

	if (!t->escaped)
		return hash(t->s, t->n);
	jsontext_resolve(&s, t);
	h = hash(s.s, s.len);
	str_free(&s);
	return h;
}

static const char *
object(struct jsonscan *c, const char *p, uint64_t *hash)
{
	struct jsonscan_keys o;
	struct jsonscan_text key;
	uint64_t sum = 0, h;
	bool done;

	none_yet(&o, p);
	p = open(c, p);
	while (p && (p = member(c, p, &o, &key, &done)) && !done) {
		p = value(c, p, hash ? &h : NULL);
		if (!p || !hash)
			continue;
		sum += jsonhash_of(hash_text(jsonhash_key, &key), h);
	}
	if (p && hash)
		*hash = jsonhash_object(sum);
	return p;
}

static const char *
array(struct jsonscan *c, const char *p, uint64_t *hash)
{
	uint64_t all = JSONHASH_ARRAY, h;
	bool first = true, done;

	p = open(c, p);
	while (p && (p = element(c, p, &first, &done)) && !done) {
		p = value(c, p, hash ? &h : NULL);
		if (p && hash)
			all = jsonhash_element(all, h);
	}
	if (p && hash)
		*hash = all;
	return p;
}

static const char *
word(struct jsonscan *c, const char *p, uint64_t *hash)
{
	static const struct {
		const char *text;
		uint64_t value;
	} words[] = {{"false", 0}, {"true", 1}, {"null", 2}};

	for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
		size_t n = strlen(words[i].text);

		if (strncmp(p, words[i].text, n) != 0)
			continue;
		if (hash)
			*hash = jsonhash_word(words[i].value);
		return p + n;
	}
	return bad(c, p, NULL);
}

static const char *
value(struct jsonscan *c, const char *p, uint64_t *hash)
{
	struct jsonscan_text t;
	double v;

	if (*p == '"') {
		p = string(c, p + 1, &t);
		if (p && hash)
			*hash = hash_text(jsonhash_string, &t);
		return p;
	}
	if (*p == '-' || digit(*p)) {
		p = number(c, p, &v);
		if (p && hash)
			*hash = jsonhash_number(v);
		return p;
	}
	if (*p == '{')
		return object(c, p, hash);
	if (*p == '[')
		return array(c, p, hash);
	return word(c, p, hash);
}

void
jsonscan_begin(struct jsonscan *c, const char *s, size_t n)
{
	bool bom = n >= 3 && memcmp(s, "\xef\xbb\xbf", 3) == 0;

	*c = (struct jsonscan){.s = s, .p = s, .end = s + n};
	c->p = blank(s + (bom ? 3 : 0));
}

int
jsonscan_end(struct jsonscan *c, const char **why, size_t *at)
{
	size_t n = (size_t)(c->end - c->s);

	if (!c->failed && (c->p = blank(c->p)) < c->end)
		bad(c, c->p, "something follows the value");
	*why = NULL;
	*at = c->failed && c->at ? (size_t)(c->at - c->s) : 0;
	if (!c->failed && str_utf8(c->s, n))
		return 0;
	if (jsontext_holds_nul(c->s, n))
		*why = "it holds a NUL", *at = 0;
	else if (!str_utf8(c->s, n))
		*why = "it is not UTF-8", *at = 0;
	else if (c->why)
		*why = c->why;
	else
		*why = *at >= n ? "it ends too early" : "it is not JSON";
	return -1;
}

int
jsonscan_check(const char *s, size_t n, const char **why, size_t *at)
{
	struct jsonscan c;

	jsonscan_begin(&c, s, n);
	jsonscan_value(&c, NULL, NULL);
	return jsonscan_end(&c, why, at);
}

/* Keeps where the scan is; 'p' NULL is trouble. */
static inline bool
moved(struct jsonscan *c, const char *p)
{
	if (p)
		c->p = p;
	return p;
}

char
jsonscan_peek(struct jsonscan *c)
{
	if (c->failed)
		return '\0';
	c->p = blank(c->p);
	return *c->p;
}

bool
jsonscan_object(struct jsonscan *c, struct jsonscan_keys *o)
{
	none_yet(o, c->p);
	return jsonscan_peek(c) == '{' && moved(c, open(c, c->p));
}

bool
jsonscan_array(struct jsonscan *c)
{
	return jsonscan_peek(c) == '[' && moved(c, open(c, c->p));
}

bool
jsonscan_number(struct jsonscan *c, double *v)
{
	char first = jsonscan_peek(c);

	return (first == '-' || digit(first)) && moved(c, number(c, c->p, v));
}

bool
jsonscan_string(struct jsonscan *c, struct jsonscan_text *t)
{
	return jsonscan_peek(c) == '"' && moved(c, string(c, c->p + 1, t));
}

bool
jsonscan_member(
    struct jsonscan *c, struct jsonscan_keys *o, struct jsonscan_text *key)
{
	bool done = false;

	return !c->failed && moved(c, member(c, c->p, o, key, &done)) && !done;
}

bool
jsonscan_expect(
    struct jsonscan *c, struct jsonscan_keys *o, const char *key, size_t n)
{
	const char *p = c->p;

	p += o->n && *p == ',';
	if (c->failed || o->n >= JSONSCAN_KEYS || (o->n && p == c->p) ||
	    (size_t)(c->end - p) < n + 3 || *p != '"' ||
	    memcmp(p + 1, key, n) != 0 || p[n + 1] != '"' || p[n + 2] != ':')
		return false;
	o->v[o->n++] = (struct jsonscan_text){p + 1, n, false};
	o->expected = true;
	c->p = blank(p + n + 3);
	return true;
}

bool
jsonscan_element(struct jsonscan *c, bool *first)
{
	bool done = false;

	return !c->failed && moved(c, element(c, c->p, first, &done)) && !done;
}

bool
jsonscan_value(struct jsonscan *c, struct jsonscan_text *t, uint64_t *hash)
{
	const char *from;

	jsonscan_peek(c);
	from = c->p;
	if (c->failed || !moved(c, value(c, from, hash)))
		return false;
	if (t)
		*t = (struct jsonscan_text){from, (size_t)(c->p - from), false};
	return true;
}
