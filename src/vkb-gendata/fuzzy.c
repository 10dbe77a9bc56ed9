#include "fuzzy.h"
#include "pyrandom.h"
#include "str.h"

#include <string.h>

#define LETTERS 26
#define VARIANTS 1000000 /* seeds reserved for each term */

static const char letters[] = "abcdefghijklmnopqrstuvwxyz";

enum { INSERT, DELETE, SUBSTITUTE, EDITS };

void
fuzzy_append_word(struct str *s, struct pyrandom *r, uint64_t term,
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
fuzzy_append_variant(struct str *s, struct pyrandom *r, const char *word,
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
