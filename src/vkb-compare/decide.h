/*
 * The verdicts of all rows, by p adjusted over all of them.
 */
#ifndef DECIDE_H
#define DECIDE_H

#include <stddef.h>

struct comparison;
struct rules;

/* Adjusts p over the gate rows of all comparisons, and apart from these over
 * all other rows; then sets the verdicts, counts, overall and lapses. */
void decide_all(struct comparison *, size_t n, const struct rules *);

#endif
