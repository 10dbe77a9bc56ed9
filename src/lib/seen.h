/*
 * Which hashes came before: a set of 64-bit numbers. Of a million good hashes
 * two are equal by chance once in 30 million sets.
 */
#ifndef SEEN_H
#define SEEN_H

#include <stdbool.h>

struct seen;

struct seen *seen_new(void);
void seen_free(struct seen *);

/* Adds 'hash'; true when it was there. */
bool seen_add(struct seen *, unsigned long long hash);

#endif
