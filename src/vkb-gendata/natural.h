/*
 * Makes text with the word statistics of an encyclopedia: sentences of words of
 * the built-in vocabulary. A text has a random number of words, lognormal with
 * the given median and a sigma of 0.8; a sentence has 4 to 28 words.
 */
#ifndef NATURAL_H
#define NATURAL_H

#include <stddef.h>

#define NATURAL_WORDS 300 /* the default median */
#define NATURAL_SIGMA 0.8

struct rng;
struct str;
struct vocabulary;

/* Appends whole words, at most 'size' bytes. */
void natural_append_text(struct str *, const struct vocabulary *, struct rng *,
    double median, size_t size);

#endif
