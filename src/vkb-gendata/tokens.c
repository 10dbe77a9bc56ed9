#include "tokens.h"
#include "content.h"
#include "mem.h"
#include "pyrandom.h"
#include "rng.h"
#include "str.h"
#include "recipe.h"
#include "vocabulary.h"

#include <stdbool.h>
#include <string.h>

#define WIDEST 16 /* most letters of a token */
#define SOME 64   /* tokens that are appended at once */

/* Appends the n-th (from 0) of a, b ... z, aa, ab ... */
static void
add_letters(struct str *s, uint64_t n)
{
	char buf[WIDEST], *p = buf + sizeof buf;

	for (n++; n; n = (n - 1) / 26)
		*--p = (char)('a' + (n - 1) % 26);
	str_addn(s, p, (size_t)(buf + sizeof buf - p));
}

void
tokens_repeat(struct str *s, size_t from, uint64_t n, size_t most)
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

void
tokens_seed_rng(const struct cell *c, struct rng *r)
{
	rng_seed(r, c->salt + c->row * UINT64_C(0x9e3779b97f4a7c15), c->field);
}

uint64_t
tokens_compute_twist(const struct cell *c)
{
	uint64_t x[2] = {c->seed, c->field};

	return c->seed || c->field
	    ? str_hash(STR_HASH, x, sizeof x) | UINT64_C(1) << 63
	    : 0;
}

void
tokens_append_cyclic(
    struct str *s, const struct transform *t, const struct cell *c)
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
	tokens_repeat(s, 0, rounds + (rest > 0), 4 * c->size);
	if (rest && s->len == round * (rounds + 1))
		s->len = round * rounds + cut;
}

/*
 * A row's first token follows the last token of the row before. Copies WIDEST
 * bytes for each token, which is faster, into a buffer that they surely fit.
 */
void
tokens_append_unique(
    struct str *s, const struct transform *t, const struct cell *c)
{
	uint64_t n = (c->row - 1) * (uint64_t)t->count;
	long long left = t->count;
	char some[SOME * (WIDEST + 1)], w[WIDEST] = "";
	struct str first = {0};
	size_t len;

	add_letters(&first, n);
	len = first.len;
	memcpy(w, first.s, len);
	str_free(&first);
	while (left && s->len <= 4 * c->size) {
		char *p = some;

		for (int k = 0; k < SOME && left; k++, left--) {
			size_t i = len;

			memcpy(p, w, WIDEST);
			p += len;
			*p++ = ' ';
			while (i && w[i - 1] == 'z')
				w[--i] = 'a';
			if (i)
				w[i - 1]++;
			else
				w[len++] = 'a';
		}
		str_addn(s, some, (size_t)(p - some));
	}
}

/* Seeds a generator, or the Python tool's for its cells; true: the former. */
static bool
seed_own_rng(const struct cell *c, struct rng *r)
{
	bool own = tokens_compute_twist(c) != 0;

	tokens_seed_rng(c, r);
	if (!own)
		pyrandom_seed(c->py, c->row);
	return own;
}

void
tokens_append_uuid(
    struct str *s, const struct transform *t, const struct cell *c)
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

void
tokens_append_progressive(
    struct str *s, const struct transform *t, const struct cell *c)
{
	struct str whole = {0};
	size_t unit;

	add_letters(&whole, c->row - 1);
	unit = whole.len;
	tokens_repeat(&whole, 0, (uint64_t)t->count, 4 * c->size);
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

void
tokens_append_random_set(
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

void
tokens_append_stemmable(
    struct str *s, const struct transform *t, const struct cell *c)
{
	size_t n = vocabulary_count_stemmable(c->words), len;
	struct rng r;

	tokens_seed_rng(c, &r);
	for (long long i = 0; i < t->count && s->len <= 4 * c->size; i++) {
		const char *w =
		    vocabulary_get_stemmable(c->words, rng_below(&r, n), &len);

		str_addn(s, w, len);
		str_addc(s, ' ');
	}
}

void
tokens_append_repeated(
    struct str *s, const struct transform *t, const struct cell *c)
{
	str_add(s, t->text);
	str_addc(s, ' ');
	tokens_repeat(s, 0, (uint64_t)t->count, 4 * c->size);
}
