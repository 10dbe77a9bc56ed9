#include "pyrandom.h"
#include "str.h"

#include <string.h>

#define N PYRANDOM_WORDS
#define M 397

/* Makes the state that every seeding starts from: init_genrand(19650218). */
static void
init_state(uint32_t s[N])
{
	s[0] = 19650218;
	for (uint32_t i = 1; i < N; i++)
		s[i] = 1812433253 * (s[i - 1] ^ s[i - 1] >> 30) + i;
}

static inline uint32_t
stir_word(uint32_t word, uint32_t last, uint32_t factor)
{
	return word ^ (last ^ last >> 30) * factor;
}

void
pyrandom_seed(struct pyrandom *p, uint64_t seed)
{
	uint32_t key[2] = {(uint32_t)seed, (uint32_t)(seed >> 32) + 1};
	uint32_t *s = p->state, odd = seed >> 32 ? 1 : 0, last;

	if (!p->first[0])
		init_state(p->first);
	last = p->first[0];
	for (uint32_t i = 1; i < N; i++)
		last = s[i] =
		    stir_word(p->first[i], last, 1664525) + key[(i - 1) & odd];
	last = s[1] = stir_word(s[1], last, 1664525) + key[(N - 1) & odd];
	for (uint32_t i = 2; i < N; i++)
		last = s[i] = stir_word(s[i], last, 1566083941) - i;
	s[1] = stir_word(s[1], last, 1566083941) - 1;
	s[0] = UINT32_C(1) << 31;
	p->next = N;
}

static inline uint32_t
twist_word(uint32_t high, uint32_t low, uint32_t far)
{
	uint32_t y = (high & UINT32_C(1) << 31) | (low & ~(UINT32_C(1) << 31));

	return far ^ y >> 1 ^ (-(y & 1) & UINT32_C(0x9908b0df));
}

/* Renews all words. */
static void
renew_state(struct pyrandom *p)
{
	uint32_t *s = p->state;

	for (unsigned i = 0; i < N; i++)
		s[i] = twist_word(s[i], s[(i + 1) % N], s[(i + M) % N]);
	p->next = 0;
}

static inline uint32_t
draw_word(struct pyrandom *p)
{
	uint32_t y;

	if (p->next == N)
		renew_state(p);
	y = p->state[p->next++];
	y ^= y >> 11;
	y ^= y << 7 & UINT32_C(0x9d2c5680);
	y ^= y << 15 & UINT32_C(0xefc60000);
	return y ^ y >> 18;
}

/* Python's random(): 0 <= x < 1. */
static inline double
draw_unit(struct pyrandom *p)
{
	uint32_t a = draw_word(p) >> 5, b = draw_word(p) >> 6;

	return ((double)a * 67108864.0 + b) * 0x1p-53;
}

uint32_t
pyrandom_draw_below(struct pyrandom *p, uint32_t n)
{
	int shift = __builtin_clz(n);
	uint32_t r;

	do
		r = draw_word(p) >> shift;
	while (r >= n);
	return r;
}

void
pyrandom_draw_letters(
    struct pyrandom *p, const char *letters, uint32_t n, char *to, uint64_t k)
{
	for (uint64_t i = 0; i < k; i++)
		to[i] = letters[(uint32_t)(draw_unit(p) * n)];
}

#define LETTERS 26
#define VARIANTS 1000000 /* seeds reserved for each term */

static const char letters[] = "abcdefghijklmnopqrstuvwxyz";

enum { INSERT, DELETE, SUBSTITUTE, EDITS };

void
pyrandom_append_word(struct str *s, struct pyrandom *r, uint64_t term,
    uint32_t min, uint32_t max, uint64_t twist)
{
	uint32_t n;

	pyrandom_seed(r, term + twist);
	n = min + pyrandom_draw_below(r, max - min + 1);
	for (uint32_t i = 0; i < n; i++) {
		char c;

		pyrandom_draw_letters(r, letters, LETTERS, &c, 1);
		str_addc(s, c);
	}
}

/* Makes one random edit of the word that begins at 'from'. */
static void
edit_word(struct str *s, size_t from, struct pyrandom *r)
{
	uint32_t len = (uint32_t)(s->len - from), at;
	int what = (int)pyrandom_draw_below(r, EDITS);
	char *w = s->s + from, c;

	if (len < 2)
		return;
	if (what == INSERT) {
		at = pyrandom_draw_below(r, len + 1);
		c = letters[pyrandom_draw_below(r, LETTERS)];
		str_addc(s, c); /* may move s->s */
		w = s->s + from;
		memmove(w + at + 1, w + at, len - at);
		w[at] = c;
		return;
	}
	at = pyrandom_draw_below(r, len);
	if (what == DELETE) {
		memmove(w + at, w + at + 1, len - at);
		s->len--;
		return;
	}
	do
		c = letters[pyrandom_draw_below(r, LETTERS)];
	while (c == w[at]);
	w[at] = c;
}

void
pyrandom_append_variant(struct str *s, struct pyrandom *r, const char *word,
    uint64_t term, uint64_t variant, uint32_t edits, uint64_t twist)
{
	size_t from = s->len;

	str_add(s, word);
	if (!variant)
		return;
	pyrandom_seed(r, term * VARIANTS + variant + twist);
	for (uint32_t i = 0; i < edits; i++)
		edit_word(s, from, r);
}
