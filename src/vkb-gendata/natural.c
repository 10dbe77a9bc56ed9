#include "natural.h"
#include "rng.h"
#include "str.h"
#include "vocabulary.h"

#include <math.h>
#include <stdbool.h>

#define SHORTEST 4 /* words of the shortest sentence */
#define LONGEST 28
#define COMMA 12 /* one word in COMMA is followed by a comma */

/* Draws a nearly normal number: the sum of 12 uniform ones, minus 6. */
static double
draw_normal(struct rng *r)
{
	double z = -6;

	for (int i = 0; i < 12; i++)
		z += rng_unit(r);
	return z;
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
		if (first)
			left = SHORTEST + rng_below(r, LONGEST - SHORTEST + 1);
		if (i > 0)
			str_addc(s, ' ');
		str_addn(s, w, len);
		if (first)
			s->s[s->len - len] -= 'a' - 'A';
		if (--left == 0)
			str_addc(s, '.');
		else if (rng_below(r, COMMA) == 0)
			str_addc(s, ',');
	}
	str_add(s, "");
}
