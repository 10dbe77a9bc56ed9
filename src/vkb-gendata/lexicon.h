/*
 * Common English words, the most frequent first: the head of the built-in
 * vocabulary, so that queries made of them have hits in real text too.
 */
#ifndef LEXICON_H
#define LEXICON_H

/* Words with a blank between them. */
extern const char lexicon[];

#endif
