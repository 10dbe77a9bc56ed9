/*
 * Words with known misspellings: the words of a term, by number, and variants
 * of each that are at most so many edits away. The same as the Python tool's
 * where 'twist' is 0; other values give other words. The generator is seeded
 * for each.
 */
#ifndef FUZZY_H
#define FUZZY_H

#include <stdint.h>

struct pyrandom;
struct str;

/* Adds the right spelling of term 'term' (from 1), min..max letters. */
void fuzzy_word(struct str *, struct pyrandom *, uint64_t term, uint32_t min,
    uint32_t max, uint64_t twist);

/*
 * Adds variant 'variant' of 'word': 'edits' letters were put in, left out or
 * changed, one after the other; 0 is the word itself. A word of one letter
 * stays as it is.
 */
void fuzzy_variant(struct str *, struct pyrandom *, const char *word,
    uint64_t term, uint64_t variant, uint32_t edits, uint64_t twist);

#endif
