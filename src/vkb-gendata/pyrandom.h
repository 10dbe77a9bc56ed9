/*
 * The numbers of Python's random.Random(seed) for integer seeds: MT19937
 * (Matsumoto and Nishimura, "Mersenne Twister", 1998), seeded by its
 * init_by_array. With them vkb-gendata makes the same files as the Python tool.
 */
#ifndef PYRANDOM_H
#define PYRANDOM_H

#include <stdint.h>

struct str;

#define PYRANDOM_WORDS 624

/* Starts as {0}. */
struct pyrandom {
	uint32_t state[PYRANDOM_WORDS];
	unsigned next;                  /* index of the word to be drawn */
	uint32_t first[PYRANDOM_WORDS]; /* the state each seeding starts from */
};

void pyrandom_seed(struct pyrandom *, uint64_t seed);

/* Draws 0..n-1, n >= 1, as Python's choice(), randrange() and randint() do. */
uint32_t pyrandom_draw_below(struct pyrandom *, uint32_t n);

/* Draws k of n letters as Python's choices() does: at floor(random() * n). */
void pyrandom_draw_letters(
    struct pyrandom *, const char *letters, uint32_t n, char *to, uint64_t k);

/*
 * Words with known misspellings: a word for each term number, and variants that
 * are at most a given number of edits away from it. With a 'twist' of 0 they
 * are the Python tool's; other values give other words. Both functions seed the
 * generator.
 */

/* Appends the correct word of term 'term' (from 1), of min..max letters. */
void pyrandom_append_word(struct str *, struct pyrandom *, uint64_t term,
    uint32_t min, uint32_t max, uint64_t twist);

/*
 * Appends variant 'variant' of 'word', made by 'edits' successive insertions,
 * deletions or substitutions of a letter; variant 0 is the word itself. A word
 * of one letter is not edited.
 */
void pyrandom_append_variant(struct str *, struct pyrandom *, const char *word,
    uint64_t term, uint64_t variant, uint32_t edits, uint64_t twist);

#endif
