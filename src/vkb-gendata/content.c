#include "content.h"
#include "mem.h"
#include "pyrandom.h"
#include "recipe.h"
#include "rng.h"
#include "vocabulary.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#define WIDEST 16 /* most letters of a token */

/* --- contents of many tokens, with a blank after each. They are appended to an
 * empty string, and may stop at four times the size of the cell in bytes, which
 * is the most that content_cut keeps. */

/* Appends the n-th (from 0) of a, b ... z, aa, ab ... */
static void
add_letters(struct str *s, uint64_t n)
{
	char buf[WIDEST], *p = buf + sizeof buf;

	for (n++; n; n = (n - 1) / 26)
		*--p = (char)('a' + (n - 1) % 26);
	str_addn(s, p, (size_t)(buf + sizeof buf - p));
}

/* Repeats the bytes from 'from' on, so that they are there n times; stops soon
 * after 'most' bytes. */
static void
repeat_bytes(struct str *s, size_t from, uint64_t n, size_t most)
{
	size_t unit = s->len - from, want;

	if (!unit)
		return;
	want = n > most / unit + 1 ? most + unit : (size_t)n * unit;
	while (s->len - from < want) {
		size_t have = s->len - from, more = want - have;

		if (s->cap < from + want + 1) {
			s->s = mem_resize(s->s, from + want + 1, 1);
			s->cap = from + want + 1;
		}
		more = more < have ? more : have;
		memcpy(s->s + s->len, s->s + from, more);
		s->len += more;
	}
	s->len = from + want;
	s->s[s->len] = '\0';
}

/* Seeds a generator for this row and field. */
static void
seed_rng(const struct cell *c, struct rng *r)
{
	rng_seed(r, c->salt + c->row * UINT64_C(0x9e3779b97f4a7c15), c->field);
}

/* Returns 0 for seed 0 and field 0, whose cells are the Python tool's; else a
 * number that makes cells of other seeds and fields different. */
static uint64_t
compute_twist(const struct cell *c)
{
	uint64_t x[2] = {c->seed, c->field};

	return c->seed || c->field
	    ? str_hash(STR_HASH, x, sizeof x) | UINT64_C(1) << 63
	    : 0;
}

static void
append_cyclic(struct str *s, const struct transform *t, const struct cell *c)
{
	uint64_t n = (uint64_t)(t->count < t->each ? t->count : t->each);
	uint64_t rounds = (uint64_t)t->count / n, rest;
	size_t cut = 0, round;

	rest = (uint64_t)t->count % n;
	for (uint64_t i = 0; i < n && s->len <= 4 * c->size; i++) {
		add_letters(s, i);
		str_addc(s, ' ');
		if (i + 1 == rest)
			cut = s->len;
	}
	if (s->len > 4 * c->size)
		return; /* content_cut removes the rest */
	round = s->len;
	repeat_bytes(s, 0, rounds + (rest > 0), 4 * c->size);
	if (rest && s->len == round * (rounds + 1))
		s->len = round * rounds + cut;
}

/* A row's first token follows the last token of the row before. */
static void
append_unique(struct str *s, const struct transform *t, const struct cell *c)
{
	uint64_t n = (c->row - 1) * (uint64_t)t->count;

	for (long long i = 0; i < t->count && s->len <= 4 * c->size; i++) {
		add_letters(s, n + (uint64_t)i);
		str_addc(s, ' ');
	}
}

/* Seeds a generator, or the Python tool's for its cells; true: the former. */
static bool
seed_own_rng(const struct cell *c, struct rng *r)
{
	bool own = compute_twist(c) != 0;

	seed_rng(c, r);
	if (!own)
		pyrandom_seed(c->py, c->row);
	return own;
}

static void
append_uuid(struct str *s, const struct transform *t, const struct cell *c)
{
	static const char set[] = "abcdefghijklmnopqrstuvwxyz0123456789";
	uint64_t k = (uint64_t)t->max_len, x = 0;
	struct rng r;
	char buf[4096];
	bool own = seed_own_rng(c, &r);

	for (long long i = 0; i < t->count && s->len <= 4 * c->size; i++) {
		for (uint64_t done = 0, n; done < k; done += n) {
			n = k - done < sizeof buf ? k - done : sizeof buf;
			if (!own)
				pyrandom_draw_letters(c->py, set, 36, buf, n);
			for (uint64_t j = 0; own && j < n; j++) {
				x = j % 4 ? x >> 16 : rng_next(&r);
				buf[j] = set[(x & 0xffff) * 36 >> 16];
			}
			str_addn(s, buf, n);
		}
		str_addc(s, ' ');
	}
}

static void
append_progressive(
    struct str *s, const struct transform *t, const struct cell *c)
{
	struct str whole = {0};
	size_t unit;

	add_letters(&whole, c->row - 1);
	unit = whole.len;
	repeat_bytes(&whole, 0, (uint64_t)t->count, 4 * c->size);
	for (long long i = 1; i <= t->count && s->len <= 4 * c->size; i++) {
		str_addn(s, whole.s, unit * (size_t)i);
		str_addc(s, ' ');
	}
	for (long long i = 0; i < t->each && s->len <= 4 * c->size; i++) {
		str_addn(s, whole.s, whole.len);
		str_addc(s, (char)('a' + i % 26));
		str_addc(s, ' ');
	}
	str_free(&whole);
}

static void
append_random_set(
    struct str *s, const struct transform *t, const struct cell *c)
{
	struct rng r;
	bool own = seed_own_rng(c, &r);

	for (long long i = 0; i < t->count && s->len <= 4 * c->size; i++) {
		str_add(s,
		    t->list[own
			    ? rng_below(&r, t->nlist)
			    : pyrandom_draw_below(c->py, (uint32_t)t->nlist)]);
		str_addc(s, ' ');
	}
}

static void
append_stemmable(struct str *s, const struct transform *t, const struct cell *c)
{
	size_t n = vocabulary_count_stemmable(c->words), len;
	struct rng r;

	seed_rng(c, &r);
	for (long long i = 0; i < t->count && s->len <= 4 * c->size; i++) {
		const char *w =
		    vocabulary_get_stemmable(c->words, rng_below(&r, n), &len);

		str_addn(s, w, len);
		str_addc(s, ' ');
	}
}

static void
append_repeated(struct str *s, const struct transform *t, const struct cell *c)
{
	str_add(s, t->text);
	str_addc(s, ' ');
	repeat_bytes(s, 0, (uint64_t)t->count, 4 * c->size);
}

/* --- other contents */

static void
append_phrase_term(struct str *s, uint64_t phrase, uint64_t i)
{
	str_printf(s, "phrase%llu_term%llu", (unsigned long long)phrase,
	    (unsigned long long)i);
}

static void
make_proximity(struct str *s, const struct transform *t, const struct cell *c)
{
	uint64_t phrase = (c->row - 1) / (uint64_t)t->each;
	long long i;

	for (i = 1; t->combos != 1 && i <= t->terms && s->len < 4 * c->size;
	     i++) {
		size_t from = s->len;

		append_phrase_term(s, phrase, (uint64_t)i);
		str_addc(s, ' ');
		repeat_bytes(s, from, i < t->terms ? 3 : 2, SIZE_MAX / 4);
		if (i < t->terms)
			str_addn(s, "x x ", 4);
	}
	for (i = 1; i <= t->terms && s->len <= 4 * c->size; i++) {
		append_phrase_term(s, phrase, (uint64_t)i);
		str_addc(s, ' ');
	}
}

static void
make_expansion(struct str *s, const struct transform *t, const struct cell *c)
{
	uint64_t per = (uint64_t)t->count * (uint64_t)t->each, n, from;
	unsigned long long id = (c->row - 1) / per + 1;

	n = (c->row - 1) % per / (uint64_t)t->each + 1;
	str_printf(s, "term%03llu_", id);
	from = s->len;
	str_addc(s, 'a');
	repeat_bytes(s, from, n, c->size);
	str_addc(s, ' ');
	from = s->len;
	str_addc(s, 'a');
	repeat_bytes(s, from, n, c->size);
	str_printf(s, "_term%03llu", id);
}

static void
make_fuzzy(struct str *s, const struct transform *t, const struct cell *c)
{
	uint64_t per = (uint64_t)t->count * (uint64_t)t->each;
	uint64_t id = (c->row - 1) / per + 1;
	uint64_t variant = (c->row - 1) % per / (uint64_t)t->each;
	struct str base = {0};

	pyrandom_append_word(&base, c->py, id, (uint32_t)t->min_len,
	    (uint32_t)t->max_len, compute_twist(c));
	pyrandom_append_variant(s, c->py, base.s, id, variant,
	    (uint32_t)t->edits, compute_twist(c));
	str_free(&base);
}

static void
make_numeric(struct str *s, const struct transform *t, const struct cell *c)
{
	unsigned long long u, one = 1;
	struct rng r;
	long long v;

	seed_rng(c, &r);
	v = t->least + (long long)rng_below(&r, t->steps);
	u = v < 0 ? 0 - (unsigned long long)v : (unsigned long long)v;
	for (int i = 0; i < t->decimals; i++)
		one *= 10;
	str_printf(s, "%s%llu", v < 0 ? "-" : "", u / one);
	if (t->decimals)
		str_printf(s, ".%0*llu", t->decimals, u % one);
}

static void
make_tags(struct str *s, const struct transform *t, const struct cell *c)
{
	struct rng r;
	size_t i, k;

	seed_rng(c, &r);
	i = rng_below(&r, t->nlist);
	str_add(s, t->list[i]);
	if (t->single_tag || t->nlist < 2 || rng_below(&r, 2))
		return;
	k = rng_below(&r, t->nlist - 1);
	str_addc(s, '|');
	str_add(s, t->list[k + (k >= i)]);
}

/* Returns the offset of the first byte of the character that 'i' is in. */
static size_t
find_character_start(const char *s, size_t i)
{
	while (i && ((unsigned char)s[i] & 0xc0) == 0x80)
		i--;
	return i;
}

/* Finds where a character begins. Returns its offset, at most n; *got is how
 * many characters are before it. */
static size_t
find_character(const char *s, size_t n, size_t character, size_t *got)
{
	size_t i = 0;

	for (*got = 0; i < n; i++)
		if (((unsigned char)s[i] & 0xc0) != 0x80 && ++*got > character)
			break;
	*got -= i < n;
	return i;
}

/* Appends the size of characters from the offset on. A shorter rest is followed
 * by a blank and the beginning, as in the Python tool. */
static void
cut_article(struct str *s, const struct transform *t, const struct cell *c)
{
	size_t n = c->article_len, got;
	size_t from = find_character(c->article, n, (size_t)t->offset, &got);
	bool behind = from == n;

	from = behind ? 0 : from;
	n = find_character(c->article + from, n - from, c->size, &got);
	str_addn(s, c->article + from, n);
	if (got < c->size && !behind) {
		str_addc(s, ' ');
		n = find_character(
		    c->article, c->article_len, c->size - got, &got);
		str_addn(s, c->article, n);
	}
}

static void
make_wikipedia(struct str *s, const struct transform *t, const struct cell *c)
{
	struct rng r;

	if (c->article) {
		cut_article(s, t, c);
		return;
	}
	seed_rng(c, &r);
	for (long long i = 0; i < t->offset % 64; i++)
		rng_next(&r);
	vocabulary_append_text(s, c->words, &r, (double)t->count, c->size);
}

static void
append_repeated_term(
    struct str *s, const struct transform *t, const struct cell *c)
{
	size_t from;

	str_addc(s, ' ');
	from = s->len;
	str_add(s, t->text);
	str_addc(s, ' ');
	if (t->count)
		repeat_bytes(s, from, (uint64_t)t->count, 4 * c->size);
	else
		s->len = from;
	str_add(s, "");
}

static void
append_prefix_words(
    struct str *s, const struct transform *t, const struct cell *c)
{
	(void)c;
	str_addc(s, ' ');
	for (long long i = 0; i < t->count && i < 10; i++)
		str_printf(s, "%s%s%lld", i ? " " : "", t->text, i);
}

static void
make_word(struct str *s, const struct transform *t, const struct cell *c)
{
	uint64_t n = (c->row - 1) * (uint64_t)t->terms + t->first;
	size_t len;
	const char *w =
	    vocabulary_get_word(c->words, (size_t)(n % VOCABULARY_WORDS), &len);

	str_addn(s, w, len);
}

static void
append_injected_term(
    struct str *s, const struct transform *t, const struct cell *c)
{
	if ((double)c->row <= trunc((double)c->rows * t->share))
		str_printf(s, " %s", t->text);
}

static void
make_label(struct str *s, const struct transform *t, const struct cell *c)
{
	str_printf(s, "phrase%llu",
	    (unsigned long long)((c->row - 1) / (uint64_t)t->each));
}

static void
make_term(struct str *s, const struct transform *t, const struct cell *c)
{
	append_phrase_term(s, c->row - 1, t->first);
}

static void
make_expanded_term(
    struct str *s, const struct transform *t, const struct cell *c)
{
	(void)t;
	str_printf(s, "term%03llu", (unsigned long long)c->row);
}

static void
make_listed(struct str *s, const struct transform *t, const struct cell *c)
{
	str_add(s, t->list[(c->row - 1) % t->nlist]);
}

/* How the result is used: it replaces the content so far, is appended to it, or
 * replaces it by tokens without the blank after the last one. */
enum way { REPLACE, APPEND, TOKENS };

/* A vector has no function: it is not text, and content_make_vector makes it.
 */
static const struct {
	void (*make)(
	    struct str *, const struct transform *, const struct cell *);
	enum way way;
} kinds[] = {
    [TRANSFORM_WIKIPEDIA] = {make_wikipedia, REPLACE},
    [TRANSFORM_INJECT] = {append_injected_term, APPEND},
    [TRANSFORM_REPEAT] = {append_repeated_term, APPEND},
    [TRANSFORM_PREFIX_GEN] = {append_prefix_words, APPEND},
    [TRANSFORM_PROXIMITY] = {make_proximity, TOKENS},
    [TRANSFORM_PHRASE_LABEL] = {make_label, REPLACE},
    [TRANSFORM_EXPANSION] = {make_expansion, REPLACE},
    [TRANSFORM_FUZZY] = {make_fuzzy, REPLACE},
    [TRANSFORM_NUMERIC] = {make_numeric, REPLACE},
    [TRANSFORM_TAGS] = {make_tags, REPLACE},
    [TRANSFORM_REPEATED] = {append_repeated, TOKENS},
    [TRANSFORM_CYCLIC] = {append_cyclic, TOKENS},
    [TRANSFORM_UNIQUE] = {append_unique, TOKENS},
    [TRANSFORM_UUID] = {append_uuid, TOKENS},
    [TRANSFORM_PROGRESSIVE] = {append_progressive, TOKENS},
    [TRANSFORM_RANDOM_SET] = {append_random_set, TOKENS},
    [TRANSFORM_STEMMABLE] = {append_stemmable, TOKENS},
    [TRANSFORM_VECTOR] = {NULL, REPLACE},
    [TRANSFORM_TERM] = {make_term, REPLACE},
    [TRANSFORM_LABEL] = {make_label, REPLACE},
    [TRANSFORM_EXPANDED] = {make_expanded_term, REPLACE},
    [TRANSFORM_SPELT] = {make_fuzzy, REPLACE},
    [TRANSFORM_IN_TURN] = {make_listed, REPLACE},
    [TRANSFORM_WORD] = {make_word, REPLACE},
};

void
content_apply_transform(
    const struct transform *t, const struct cell *c, struct str *s)
{
	if (!kinds[t->kind].make)
		return;
	if (kinds[t->kind].way != APPEND)
		str_clear(s);
	kinds[t->kind].make(s, t, c);
	if (kinds[t->kind].way == TOKENS && s->len)
		s->s[--s->len] = '\0';
}

void
content_cut(struct str *s, size_t characters)
{
	size_t got;

	if (s->len <= characters)
		return;
	s->len = find_character(s->s, s->len, characters, &got);
	s->s[s->len] = '\0';
}

size_t
content_count_text(const struct transform *t, size_t text, const struct str *s)
{
	if (t->kind == TRANSFORM_WIKIPEDIA)
		return s->len;
	return kinds[t->kind].way == APPEND ? text : 0;
}

void
content_make_room(struct str *s, size_t text, size_t characters)
{
	size_t n = 0, end = text;

	if (text == 0 || text == s->len || s->len <= characters)
		return;
	for (size_t i = 0; i < s->len; i++)
		n += ((unsigned char)s->s[i] & 0xc0) != 0x80;
	if (n <= characters)
		return;
	for (; n > characters && end; n--)
		end = find_character_start(s->s, end - 1);
	if (end && s->s[end] != ' ')
		while (end && s->s[end - 1] != ' ')
			end--; /* only whole words */
	while (end && s->s[end - 1] == ' ')
		end--;
	memmove(s->s + end, s->s + text, s->len - text + 1);
	s->len -= text - end;
}

void
content_make_vector(
    uint64_t salt, uint64_t row, size_t field, size_t dims, float *to)
{
	struct rng r;
	double sum = 0, scale;

	rng_seed(&r, salt + row * UINT64_C(0x9e3779b97f4a7c15), field);
	/* Two normal numbers at a time: Box and Muller, 1958. */
	for (size_t i = 0; i < dims; i += 2) {
		double length = sqrt(2 * rng_exponential(&r));
		double angle = 2 * M_PI * rng_unit(&r);
		double x[2] = {length * cos(angle), length * sin(angle)};

		for (size_t k = 0; k < 2 && i + k < dims; k++) {
			to[i + k] = (float)x[k];
			sum += x[k] * x[k];
		}
	}
	scale = sum > 0 ? 1 / sqrt(sum) : 0;
	for (size_t i = 0; i < dims; i++)
		to[i] = (float)(to[i] * scale);
}
