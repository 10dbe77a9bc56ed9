/*
 * The built-in vocabulary: VOCABULARY_WORDS different words, common English
 * words first and made-up ones after them. The frequency of rank r (from 1) is
 * proportional to (r + 2.7) ^ -1.07 (Mandelbrot, "An informational theory of
 * the statistical structure of language", 1953). It never changes.
 */
#ifndef VOCABULARY_H
#define VOCABULARY_H

#include <stddef.h>

#define VOCABULARY_WORDS 50000
#define VOCABULARY_ROOM 16 /* bytes for a word, its NUL and its length */
#define VOCABULARY_SHIFT 2.7
#define VOCABULARY_POWER 1.07

struct rng;
struct str;
struct vocabulary;

struct vocabulary *vocabulary_new(void);
void vocabulary_free(struct vocabulary *);

/* Returns word i, from 0, which has VOCABULARY_ROOM bytes; borrowed. */
const char *vocabulary_get_word(
    const struct vocabulary *, size_t i, size_t *len);

/* Draws a rank, with the probability of its frequency. */
size_t vocabulary_draw_rank(const struct vocabulary *, struct rng *);

/* Return how many words an English stemmer changes, and the i-th of them. */
size_t vocabulary_count_stemmable(const struct vocabulary *);
const char *vocabulary_get_stemmable(
    const struct vocabulary *, size_t i, size_t *len);

/*
 * Makes text with the word statistics of an encyclopedia: sentences of 4 to 28
 * words. A text has a random number of words, lognormal with the given median
 * and a sigma of 0.8. Appends whole words, at most 'size' bytes.
 */
#define VOCABULARY_MEDIAN 300 /* the default median */
#define VOCABULARY_SIGMA 0.8
void vocabulary_append_text(struct str *, const struct vocabulary *,
    struct rng *, double median, size_t size);

#endif
