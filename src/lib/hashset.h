/*
 * A set of 64-bit hashes. Among a million good hashes two are equal by chance
 * in one of 30 million sets.
 */
#ifndef HASHSET_H
#define HASHSET_H

#include <stdbool.h>

struct hashset;

struct hashset *hashset_new(void);
void hashset_free(struct hashset *);

/* Adds 'hash'. Returns true if it was in the set. */
bool hashset_add(struct hashset *, unsigned long long hash);

/* Returns true if it is in the set. */
bool hashset_has(const struct hashset *, unsigned long long hash);

#endif
