/*
 * Common English words, the most frequent first. The built-in vocabulary starts
 * with them, so that queries made of them have hits in real text too.
 */
#ifndef LEXICON_H
#define LEXICON_H

/* The words, separated by single blanks. */
extern const char lexicon[];

#endif
