/*
 * Words with known misspellings: a word for each term number, and variants that
 * are at most a given number of edits away from it. With a 'twist' of 0 they
 * are the Python tool's; other values give other words. Both functions seed the
 * generator.
 */
#ifndef FUZZY_H
#define FUZZY_H

#include <stdint.h>

struct pyrandom;
struct str;

/* Appends the correct word of term 'term' (from 1), of min..max letters. */
void fuzzy_append_word(struct str *, struct pyrandom *, uint64_t term,
    uint32_t min, uint32_t max, uint64_t twist);

/*
 * Appends variant 'variant' of 'word', made by 'edits' successive insertions,
 * deletions or substitutions of a letter; variant 0 is the word itself. A word
 * of one letter is not edited.
 */
void fuzzy_append_variant(struct str *, struct pyrandom *, const char *word,
    uint64_t term, uint64_t variant, uint32_t edits, uint64_t twist);

#endif
