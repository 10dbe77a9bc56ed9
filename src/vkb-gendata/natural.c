#include "natural.h"
#include "rng.h"
#include "str.h"
#include "vocabulary.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#define SHORTEST 4 /* words of the shortest sentence */
#define LONGEST 28
#define COMMA 12 /* one word in COMMA is followed by a comma */
#define CHUNK 4096

/* Draws a nearly normal number: the sum of 12 uniform ones, minus 6. */
static double
draw_normal(struct rng *r)
{
	double z = -6;

	for (int i = 0; i < 12; i++)
		z += rng_unit(r);
	return z;
}

/* Makes room for a chunk and its longest word, without clearing it. */
static void
reserve_chunk(struct str *s)
{
	static const char blanks[CHUNK + 2 * VOCABULARY_ROOM];
	size_t len = s->len;

	if (s->cap - s->len <= sizeof blanks) {
		str_addn(s, blanks, sizeof blanks);
		s->len = len;
	}
}

void
natural_append_text(struct str *s, const struct vocabulary *v, struct rng *r,
    double median, size_t size)
{
	double words = median * exp(NATURAL_SIGMA * draw_normal(r));
	size_t end = s->len + size, left = 0, len;

	for (double i = 0; i < words; i++) {
		const char *w =
		    vocabulary_get_word(v, vocabulary_draw_rank(v, r), &len);
		bool first = left == 0;

		if (s->len + len + 2 > end)
			break;
		reserve_chunk(s);
		if (first)
			left = SHORTEST + rng_below(r, LONGEST - SHORTEST + 1);
		if (i > 0)
			s->s[s->len++] = ' ';
		memcpy(s->s + s->len, w, VOCABULARY_ROOM);
		if (first)
			s->s[s->len] -= 'a' - 'A';
		s->len += len;
		if (--left == 0)
			s->s[s->len++] = '.';
		else if (rng_below(r, COMMA) == 0)
			s->s[s->len++] = ',';
	}
	str_add(s, "");
}
