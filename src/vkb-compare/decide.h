/*
 * The verdicts: p of all rows adjusted together, and what follows of each.
 */
#ifndef DECIDE_H
#define DECIDE_H

#include <stddef.h>

struct comparison;
struct rules;

/* The family of p is all gate rows of all comparisons (and all others). */
void decide_all(struct comparison *, size_t n, const struct rules *);

#endif
