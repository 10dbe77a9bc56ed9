#include "vocabulary.h"
#include "lexicon.h"
#include "mem.h"
#include "rng.h"
#include "str.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define N VOCABULARY_WORDS
#define ROOM VOCABULARY_ROOM
#define LONGEST (ROOM - 2)
#define SEED 20260302
#define PLACES 131072 /* slots of struct set: a power of two above 2 N */

struct draw {
	uint32_t chance; /* probability of the rank itself, times 2^32 */
	uint32_t alias;
};

struct vocabulary {
	char (*words)[ROOM]; /* the last byte is the length */
	uint32_t *stems;     /* ranks of the words that a stemmer changes */
	size_t nstems;
	/*
	 * Alias method: Vose, "A Linear Algorithm for Generating Random Numbers
	 * with a Given Distribution", 1991.
	 */
	struct draw *draws;
};

/* Hash set of the words so far: rank + 1 of each, 0 for a free slot. */
struct set {
	uint32_t *at;
	struct vocabulary *v;
	size_t n;
};

static bool
is_vowel(char c)
{
	return c && strchr("aeiouy", c);
}

static bool
has_vowel(const char *s, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (is_vowel(s[i]))
			return true;
	return false;
}

/*
 * Tells whether step 1a or 1b of the Snowball stemmer of English removes -s,
 * -ed or -ing from the word.
 */
static bool
is_stemmable(const char *w)
{
	size_t n = strlen(w);

	if (n > 5 && str_ends(w, "ing") && !str_ends(w, "eeing"))
		return has_vowel(w, n - 3);
	if (n > 4 && str_ends(w, "ed") && !str_ends(w, "eed"))
		return has_vowel(w, n - 2);
	if (n > 3 && w[n - 1] == 's' && !strchr("su'", w[n - 2]))
		return has_vowel(w, n - 2);
	return false;
}

/* Adds the word unless it is there already or too long. */
static void
add_vocabulary_word(struct set *set, const char *w, size_t len)
{
	uint64_t h = str_hash(STR_HASH, w, len);
	size_t at = (h ^ h >> 32) & (PLACES - 1);
	struct vocabulary *v = set->v;

	if (len > LONGEST)
		return;
	for (; set->at[at]; at = (at + 1) & (PLACES - 1)) {
		const char *other = v->words[set->at[at] - 1];

		if ((size_t)other[ROOM - 1] == len &&
		    memcmp(other, w, len) == 0)
			return;
	}
	memcpy(v->words[set->n], w, len);
	v->words[set->n][ROOM - 1] = (char)len;
	set->at[at] = (uint32_t)++set->n;
}

static void
add_common_words(struct set *set)
{
	for (const char *p = lexicon; *p;) {
		size_t len = strcspn(p, " ");

		add_vocabulary_word(set, p, len);
		p += len + (p[len] == ' ');
	}
}

static void
append_syllable(struct str *s, struct rng *r, bool last)
{
	static const char *const onsets[] = {"b", "br", "c", "ch", "cl", "d",
	    "dr", "f", "fl", "g", "gr", "h", "j", "k", "l", "m", "n", "p", "pl",
	    "pr", "r", "s", "sh", "st", "t", "th", "tr", "v", "w", "z"};
	static const char *const vowels[] = {
	    "a", "e", "i", "o", "u", "ai", "ea", "ou"};
	static const char *const codas[] = {
	    "n", "r", "l", "t", "m", "nd", "ck", "rt", "st", "p"};

	str_add(s, onsets[rng_below(r, sizeof onsets / sizeof *onsets)]);
	str_add(s, vowels[rng_below(r, sizeof vowels / sizeof *vowels)]);
	if (last || rng_below(r, 4) == 0)
		str_add(s, codas[rng_below(r, sizeof codas / sizeof *codas)]);
}

/* Adds a made-up stem with some of its forms, next to each other in rank. */
static void
add_family(struct set *set, struct rng *r)
{
	static const char *const ends[] = {
	    "", "s", "ed", "ing", "er", "ly", "ness", "ation"};
	struct str s = {0};
	size_t n = 1 + rng_below(r, 2), stem;

	for (size_t i = 0; i <= n; i++)
		append_syllable(&s, r, i == n);
	stem = s.len;
	for (size_t i = 0; i < sizeof ends / sizeof *ends && set->n < N; i++) {
		if (i && rng_below(r, 3) == 0)
			continue;
		s.len = stem;
		str_add(&s, ends[i]);
		add_vocabulary_word(set, s.s, s.len);
	}
	str_free(&s);
}

/* Returns the frequency of each rank, with a mean of 1. Caller frees. */
static double *
compute_frequencies(void)
{
	double *p = mem_array(N, sizeof *p), sum = 0;

	for (size_t i = 0; i < N; i++) {
		p[i] =
		    pow((double)(i + 1) + VOCABULARY_SHIFT, -VOCABULARY_POWER);
		sum += p[i];
	}
	for (size_t i = 0; i < N; i++)
		p[i] *= N / sum;
	return p;
}

/*
 * Builds the alias table. Ranks with a frequency of 1 or more come first; the
 * last of them that still exceeds 1 fills up each rank below 1.
 */
static void
build_aliases(struct vocabulary *v)
{
	double *p = compute_frequencies();
	size_t rich = 0, poor;
	uint32_t *todo = mem_array(N, sizeof *todo);
	size_t n = 0;

	while (rich < N && p[rich] >= 1)
		rich++;
	for (poor = N; poor > rich; poor--)
		todo[n++] = (uint32_t)(poor - 1);
	for (size_t i = 0; i < N; i++) {
		v->draws[i] = (struct draw){UINT32_MAX, (uint32_t)i};
	}
	while (n && rich) {
		uint32_t i = todo[--n];

		v->draws[i] = (struct draw){
		    (uint32_t)(p[i] * UINT32_MAX), (uint32_t)(rich - 1)};
		p[rich - 1] -= 1 - p[i];
		if (p[rich - 1] < 1)
			todo[n++] = (uint32_t)--rich;
	}
	free(todo);
	free(p);
}

struct vocabulary *
vocabulary_new(void)
{
	struct vocabulary *v = mem_new(sizeof *v);
	struct set set = {mem_array(PLACES, sizeof *set.at), v, 0};
	struct rng r;

	v->words = mem_array(N, sizeof *v->words);
	v->stems = mem_array(N, sizeof *v->stems);
	v->draws = mem_array(N, sizeof *v->draws);
	rng_seed(&r, SEED, 0);
	add_common_words(&set);
	while (set.n < N)
		add_family(&set, &r);
	free(set.at);
	for (size_t i = 0; i < N; i++)
		if (is_stemmable(v->words[i]))
			v->stems[v->nstems++] = (uint32_t)i;
	build_aliases(v);
	return v;
}

void
vocabulary_free(struct vocabulary *v)
{
	if (!v)
		return;
	free(v->words);
	free(v->stems);
	free(v->draws);
	free(v);
}

const char *
vocabulary_word(const struct vocabulary *v, size_t i, size_t *len)
{
	*len = (size_t)v->words[i][ROOM - 1];
	return v->words[i];
}

size_t
vocabulary_draw(const struct vocabulary *v, struct rng *r)
{
	uint64_t x = rng_next(r);
	size_t i = (size_t)((x >> 32) * N >> 32);

	return (uint32_t)x <= v->draws[i].chance ? i : v->draws[i].alias;
}

size_t
vocabulary_stemmable(const struct vocabulary *v)
{
	return v->nstems;
}

const char *
vocabulary_stem(const struct vocabulary *v, size_t i, size_t *len)
{
	return vocabulary_word(v, v->stems[i], len);
}
