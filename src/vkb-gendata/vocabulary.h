/*
 * The built-in vocabulary: VOCABULARY_WORDS different words, common English
 * ones first and made-up ones behind them, whose frequency by rank r is in
 * proportion to (r + 2.7) ^ -1.07 (Mandelbrot, "An informational theory of the
 * statistical structure of language", 1953). Always the same.
 */
#ifndef VOCABULARY_H
#define VOCABULARY_H

#include <stdbool.h>
#include <stddef.h>

#define VOCABULARY_WORDS 50000
#define VOCABULARY_ROOM 16 /* bytes of a word, its NUL and its length */
#define VOCABULARY_SHIFT 2.7
#define VOCABULARY_POWER 1.07

struct rng;
struct vocabulary;

struct vocabulary *vocabulary_new(void);
void vocabulary_free(struct vocabulary *);

/* The word of rank i, from 0; borrowed. VOCABULARY_ROOM bytes may be read. */
const char *vocabulary_word(const struct vocabulary *, size_t i, size_t *len);

/* A rank, as often as it is frequent. */
size_t vocabulary_draw(const struct vocabulary *, struct rng *);

/* How many words a stemmer of English changes, and the i-th of them. */
size_t vocabulary_stemmable(const struct vocabulary *);
const char *vocabulary_stem(const struct vocabulary *, size_t i, size_t *len);

#endif
