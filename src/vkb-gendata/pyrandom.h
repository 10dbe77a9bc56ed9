/*
 * The numbers of Python's random.Random(seed), for whole seeds: MT19937
 * (Matsumoto and Nishimura, "Mersenne Twister", 1998), seeded by its
 * init_by_array. So that files which that tool makes come out the same.
 */
#ifndef PYRANDOM_H
#define PYRANDOM_H

#include <stdbool.h>
#include <stdint.h>

#define PYRANDOM_WORDS 624

/* Starts as {0}. */
struct pyrandom {
	uint32_t state[PYRANDOM_WORDS];
	unsigned next; /* word to be drawn */
	bool renewed;  /* all words are; else each is when it is drawn */
	uint32_t first[PYRANDOM_WORDS]; /* what each seeding starts from */
};

void pyrandom_seed(struct pyrandom *, uint64_t seed);

/* 0..n-1, n >= 1, as choice() and randrange() take it. */
uint32_t pyrandom_below(struct pyrandom *, uint32_t n);

/* randint(): both ends belong to it. */
uint32_t pyrandom_int(struct pyrandom *, uint32_t min, uint32_t max);

/* choices(): the places it takes are floor(random() * n). */
void pyrandom_choices(
    struct pyrandom *, const char *letters, uint32_t n, char *to, uint64_t k);

#endif
