/*
 * The numbers of Python's random.Random(seed) for integer seeds: MT19937
 * (Matsumoto and Nishimura, "Mersenne Twister", 1998), seeded by its
 * init_by_array. With them vkb-gendata makes the same files as the Python tool.
 */
#ifndef PYRANDOM_H
#define PYRANDOM_H

#include <stdint.h>

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

#endif
