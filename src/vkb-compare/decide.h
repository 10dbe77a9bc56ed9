/*
 * The verdicts of all rows, by p adjusted over all of them.
 */
#ifndef DECIDE_H
#define DECIDE_H

#include <stddef.h>

struct comparison;
struct rules;

/* Tests the rows, adjusts p in each family over all comparisons, and sets the
 * verdicts, the counts and the rules without effect. */
void decide_all(struct comparison *, size_t n, const struct rules *);

/* Sets the overall change of each judged metric of each comparison; rows
 * without a ratio above 0 are left out. */
void decide_overall(struct comparison *, size_t n);

#endif
