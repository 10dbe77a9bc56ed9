/*
 * Contents that are many tokens with a blank between them: what transforms
 * for the shapes of an index make. Each replaces what the string has. They may
 * stop when four times the size of the cell is there, which is more than is
 * ever kept of it.
 */
#ifndef TOKENS_H
#define TOKENS_H

#include <stddef.h>
#include <stdint.h>

struct cell;
struct rng;
struct str;
struct transform;

typedef void tokens_make(
    struct str *, const struct transform *, const struct cell *);

tokens_make tokens_repeated, tokens_cyclic, tokens_unique, tokens_uuid,
    tokens_progressive, tokens_random_set, tokens_stemmable;

/*
 * What stands behind 'from' is there n times; of much more than 'most' bytes
 * the rest is left out.
 */
void tokens_copies(struct str *, size_t from, uint64_t n, size_t most);

/* Takes off the blank behind the last token, where there is one. */
void tokens_trim(struct str *, size_t from);

/* Random numbers of this row and field alone. */
void tokens_rng(const struct cell *, struct rng *);

/*
 * 0: the cell is as the Python tool makes it, which has no seed and makes all
 * fields alike.
 */
uint64_t tokens_twist(const struct cell *);

#endif
