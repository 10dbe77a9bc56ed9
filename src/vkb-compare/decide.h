/*
 * The verdicts of all rows: what is claimed is chosen among all of them.
 */
#ifndef DECIDE_H
#define DECIDE_H

#include <stddef.h>

struct comparison;
struct rules;

/* Judges the rows, and sets the verdicts, the counts and the rules without
 * effect. */
void decide_all(struct comparison *, size_t n, const struct rules *);

/* Sets the overall change of each judged metric of each comparison; rows
 * without a ratio above 0 are left out. */
void decide_overall(struct comparison *, size_t n);

#endif
