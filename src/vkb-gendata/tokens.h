/*
 * Makes contents of many tokens. Each tokens_append appends to an empty string
 * tokens with a blank after each. It may stop at four times the size of the
 * cell in bytes, which is the most that content_cut keeps.
 */
#ifndef TOKENS_H
#define TOKENS_H

#include <stddef.h>
#include <stdint.h>

struct cell;
struct rng;
struct str;
struct transform;

typedef void tokens_append(
    struct str *, const struct transform *, const struct cell *);

tokens_append tokens_append_repeated, tokens_append_cyclic,
    tokens_append_unique, tokens_append_uuid, tokens_append_progressive,
    tokens_append_random_set, tokens_append_stemmable;

/*
 * Repeats the bytes from 'from' on, so that they are there n times; stops soon
 * after 'most' bytes.
 */
void tokens_repeat(struct str *, size_t from, uint64_t n, size_t most);

/* Seeds a generator for this row and field. */
void tokens_seed_rng(const struct cell *, struct rng *);

/*
 * Returns 0 for seed 0 and field 0, whose cells are the Python tool's; else a
 * number that makes cells of other seeds and fields different.
 */
uint64_t tokens_compute_twist(const struct cell *);

#endif
