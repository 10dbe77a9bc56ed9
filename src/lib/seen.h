/*
 * A set of 64-bit hashes. Among a million good hashes two are equal by chance
 * in one of 30 million sets.
 */
#ifndef SEEN_H
#define SEEN_H

#include <stdbool.h>

struct seen;

struct seen *seen_new(void);
void seen_free(struct seen *);

/* Adds 'hash'. Returns true if it was in the set. */
bool seen_add(struct seen *, unsigned long long hash);

#endif
