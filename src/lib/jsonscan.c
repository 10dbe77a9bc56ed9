#include "jsonscan.h"
#include "jsonhash.h"
#include "jsontext.h"
#include "mem.h"
#include "str.h"

#include <endian.h>
#include <math.h>
#include <stdlib.h>

/* Scans the value that begins at 'p'. Returns where it ends; NULL on error. */
static const char *scan_value(struct jsonscan *, const char *p, uint64_t *hash);

static inline const char *
skip_blanks(const char *p)
{
	while (*p == ' ' || *p == '\n' || *p == '\t' || *p == '\r')
		p++;
	return p;
}

static const char *
fail_scan(struct jsonscan *c, const char *at, const char *why)
{
	c->failed = true;
	c->at = at;
	c->why = why;
	return NULL;
}

static inline bool
is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static const char *
scan_exponent(struct jsonscan *c, const char *p)
{
	p++;
	p += *p == '+' || *p == '-';
	if (!is_digit(*p))
		return fail_scan(c, p, NULL);
	while (is_digit(*p))
		p++;
	return p;
}

/*
 * Up to 2^53 and 10^22 numbers are exact, and so is one operation on them
 * (Clinger, How to read floating point numbers accurately, 1990, section 3).
 * 'v' NULL: the value is not needed.
 */
static inline const char *
scan_number(struct jsonscan *c, const char *p, double *v)
{
	static const double ten[] = {1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7,
	    1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18,
	    1e19, 1e20, 1e21, 1e22};
	const char *from = p, *first, *point;
	ptrdiff_t digits, places = 0;
	double large;
	uint64_t m = 0;

	p += *p == '-';
	first = p;
	while (is_digit(*p))
		m = 10 * m + (uint64_t)(*p++ - '0');
	if (p == first)
		return fail_scan(c, p, NULL);
	if (*first == '0' && p - first > 1)
		return fail_scan(c, first + 1, NULL);
	digits = p - first;
	if (*p == '.') {
		point = ++p;
		while (is_digit(*p))
			m = 10 * m + (uint64_t)(*p++ - '0');
		places = p - point;
		digits += places;
		if (!places)
			return fail_scan(c, p, NULL);
	}
	if ((*p | 0x20) == 'e') {
		p = scan_exponent(c, p);
		if (!p)
			return NULL;
		digits = 99; /* leaves it to strtod */
	}
	/* So few digits, a sign and a point are not too long, and finite. */
	if (!v && digits <= JSONSCAN_DIGITS - 2)
		return p;
	if (digits <= 19 && m <= UINT64_C(1) << 53) {
		*v = places ? (double)m / ten[places] : (double)m;
		*v = *from == '-' ? -*v : *v;
		return p;
	}
	if (p - from > JSONSCAN_DIGITS)
		return fail_scan(c, from, "a number is too long");
	large = strtod(from, NULL); /* reads what was scanned above */
	if (v)
		*v = large;
	return isfinite(large) ? p
			       : fail_scan(c, from, "a number is too large");
}

/* Returns the first control character, quote or backslash. Tests eight bytes at
 * once: the lowest bit set in the mask is right, bits above it may be wrong. */
static inline const char *
skip_plain(const char *p, const char *end)
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

/* Scans the string that begins behind the quote before 'p'. */
static inline const char *
scan_string(struct jsonscan *c, const char *p, struct jsonscan_text *t)
{
	const char *at;
	int u;

	t->s = p;
	t->escaped = false;
	for (;;) {
		p = skip_plain(p, c->end);
		if (*p != '\\')
			break;
		t->escaped = true;
		p = jsontext_escape(p + 1, &u, &at);
		if (!p)
			return fail_scan(c, at, NULL);
	}
	if (*p != '"')
		return fail_scan(c, p, NULL);
	t->n = (size_t)(p - t->s);
	return p + 1;
}

/* Returns a number below 64 that is equal for equal keys. */
static unsigned
hash_key(const struct jsonscan_text *key)
{
	const unsigned char *k = (const unsigned char *)key->s;
	size_t n = key->n;
	unsigned look = (unsigned)n;

	if (n)
		look = look * 31 + k[0] * 7 + k[n / 2] * 11 + k[n / 4] * 3 +
		    k[n - 1] * 5;
	return look & 63;
}

/* Compares a key with the first JSONSCAN_KEYS if its hash is in 'looks'. */
static void
note_key(struct jsonscan_keys *o, const struct jsonscan_text *key)
{
	uint64_t look = UINT64_C(1) << hash_key(key);

	if (o->n++ >= JSONSCAN_KEYS)
		return;
	o->v[o->n - 1] = *key;
	for (size_t i = 0; o->expected && i + 1 < o->n; i++)
		o->looks |= UINT64_C(1) << hash_key(&o->v[i]);
	o->expected = false;
	if (key->escaped)
		o->looks = UINT64_MAX; /* its hash may be any */
	else if (!(o->looks & look)) {
		o->looks |= look;
		return;
	}
	for (size_t i = 0; i + 1 < o->n && !o->twice; i++)
		if (jsontext_order(&o->v[i], key) == 0)
			o->twice = key->s - 1;
}

static int
compare_by_text(const void *a, const void *b)
{
	const struct jsonscan_text *x = a, *y = b;
	int c = jsontext_order(x, y);

	return c ? c : (x->s > y->s) - (x->s < y->s);
}

/* Scans an object of many keys again. Returns the second of two equal keys, or
 * NULL. */
static const char *
find_duplicate_key(const struct jsonscan *c, const struct jsonscan_keys *o)
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
	qsort(v, n, sizeof *v, compare_by_text);
	for (size_t i = 1; i < n && !twice; i++)
		if (jsontext_order(&v[i - 1], &v[i]) == 0)
			twice = v[i].s - 1;
	free(v);
	return twice;
}

static const char *
close_object(struct jsonscan *c, const struct jsonscan_keys *o, const char *p)
{
	const char *twice = o->twice;

	c->depth--;
	if (!c->known && !twice && o->n > JSONSCAN_KEYS)
		twice = find_duplicate_key(c, o);
	if (!c->known && twice)
		return fail_scan(c, twice, "duplicate key in an object");
	return p;
}

static inline const char *
open_level(struct jsonscan *c, const char *p)
{
	if (++c->depth > JSONSCAN_DEPTH)
		return fail_scan(c, p, "it is nested too deeply");
	return p + 1;
}

static inline void
clear_keys(struct jsonscan_keys *o, const char *p)
{
	o->from = p;
	o->n = 0;
	o->looks = 0;
	o->expected = false;
	o->twice = NULL;
}

/* Returns where the value of the next member begins; sets *done at the end. */
static inline const char *
scan_member(struct jsonscan *c, const char *p, struct jsonscan_keys *o,
    struct jsonscan_text *key, bool *done)
{
	p = skip_blanks(p);
	*done = *p == '}';
	if (*done)
		return close_object(c, o, p + 1);
	if (o->n) {
		if (*p != ',')
			return fail_scan(c, p, NULL);
		p = skip_blanks(p + 1);
	}
	if (*p != '"')
		return fail_scan(c, p, NULL);
	p = scan_string(c, p + 1, key);
	if (!p)
		return NULL;
	note_key(o, key);
	p = skip_blanks(p);
	return *p == ':' ? skip_blanks(p + 1) : fail_scan(c, p, NULL);
}

static inline const char *
scan_element(struct jsonscan *c, const char *p, bool *first, bool *done)
{
	p = skip_blanks(p);
	*done = *p == ']';
	if (*done) {
		c->depth--;
		return p + 1;
	}
	if (!*first) {
		if (*p != ',')
			return fail_scan(c, p, NULL);
		p = skip_blanks(p + 1);
	}
	*first = false;
	return p;
}

/* Hashes what a string means. */
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
scan_object(struct jsonscan *c, const char *p, uint64_t *hash)
{
	struct jsonscan_keys o;
	struct jsonscan_text key;
	uint64_t sum = 0, h;
	bool done;

	clear_keys(&o, p);
	p = open_level(c, p);
	while (p && (p = scan_member(c, p, &o, &key, &done)) && !done) {
		p = scan_value(c, p, hash ? &h : NULL);
		if (!p || !hash)
			continue;
		sum += jsonhash_mix(hash_text(jsonhash_key, &key), h);
	}
	if (p && hash)
		*hash = jsonhash_object(sum);
	return p;
}

static const char *
scan_array(struct jsonscan *c, const char *p, uint64_t *hash)
{
	uint64_t all = JSONHASH_ARRAY, h;
	bool first = true, done;

	p = open_level(c, p);
	while (p && (p = scan_element(c, p, &first, &done)) && !done) {
		p = scan_value(c, p, hash ? &h : NULL);
		if (p && hash)
			all = jsonhash_mix(all, h);
	}
	if (p && hash)
		*hash = all;
	return p;
}

static const char *
scan_word(struct jsonscan *c, const char *p, uint64_t *hash)
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
			*hash = jsonhash_mix(JSONHASH_WORD, words[i].value);
		return p + n;
	}
	return fail_scan(c, p, NULL);
}

static const char *
scan_value(struct jsonscan *c, const char *p, uint64_t *hash)
{
	struct jsonscan_text t;
	double v;

	if (*p == '"') {
		p = scan_string(c, p + 1, &t);
		if (p && hash)
			*hash = hash_text(jsonhash_string, &t);
		return p;
	}
	if (*p == '-' || is_digit(*p)) {
		p = scan_number(c, p, hash ? &v : NULL);
		if (p && hash)
			*hash = jsonhash_number(v);
		return p;
	}
	if (*p == '{')
		return scan_object(c, p, hash);
	if (*p == '[')
		return scan_array(c, p, hash);
	return scan_word(c, p, hash);
}

void
jsonscan_begin(struct jsonscan *c, const char *s, size_t n)
{
	bool bom = n >= 3 && memcmp(s, "\xef\xbb\xbf", 3) == 0;

	*c = (struct jsonscan){.s = s, .p = s, .end = s + n};
	c->p = skip_blanks(s + (bom ? 3 : 0));
}

int
jsonscan_end(struct jsonscan *c, const char **why, size_t *at)
{
	size_t n = (size_t)(c->end - c->s);

	if (!c->failed && (c->p = skip_blanks(c->p)) < c->end)
		fail_scan(c, c->p, "unexpected text after the value");
	*why = NULL;
	*at = c->failed && c->at ? (size_t)(c->at - c->s) : 0;
	if (!c->failed && str_utf8(c->s, n))
		return 0;
	if (jsontext_holds_nul(c->s, n))
		*why = "it contains a NUL byte", *at = 0;
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

/* Moves the scan to 'p'; NULL is an error. */
static inline bool
move_to(struct jsonscan *c, const char *p)
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
	c->p = skip_blanks(c->p);
	return *c->p;
}

bool
jsonscan_object(struct jsonscan *c, struct jsonscan_keys *o)
{
	clear_keys(o, c->p);
	return jsonscan_peek(c) == '{' && move_to(c, open_level(c, c->p));
}

bool
jsonscan_array(struct jsonscan *c)
{
	return jsonscan_peek(c) == '[' && move_to(c, open_level(c, c->p));
}

bool
jsonscan_number(struct jsonscan *c, double *v)
{
	char first = jsonscan_peek(c);

	return (first == '-' || is_digit(first)) &&
	    move_to(c, scan_number(c, c->p, v));
}

bool
jsonscan_string(struct jsonscan *c, struct jsonscan_text *t)
{
	return jsonscan_peek(c) == '"' &&
	    move_to(c, scan_string(c, c->p + 1, t));
}

bool
jsonscan_member(
    struct jsonscan *c, struct jsonscan_keys *o, struct jsonscan_text *key)
{
	bool done = false;

	return !c->failed && move_to(c, scan_member(c, c->p, o, key, &done)) &&
	    !done;
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
	c->p = skip_blanks(p + n + 3);
	return true;
}

bool
jsonscan_element(struct jsonscan *c, bool *first)
{
	bool done = false;

	return !c->failed && move_to(c, scan_element(c, c->p, first, &done)) &&
	    !done;
}

bool
jsonscan_value(struct jsonscan *c, struct jsonscan_text *t, uint64_t *hash)
{
	const char *from;

	jsonscan_peek(c);
	from = c->p;
	if (c->failed || !move_to(c, scan_value(c, from, hash)))
		return false;
	if (t)
		*t = (struct jsonscan_text){from, (size_t)(c->p - from), false};
	return true;
}
