/*
 * The verdicts of all rows: what is claimed is chosen among all of them.
 */
#ifndef DECIDE_H
#define DECIDE_H

#include <stddef.h>

struct comparison;
struct rules;

/* Judges the rows, and sets the verdicts, the counts, the rules without effect,
 * and the overall change of each judged metric. */
void decide_all(struct comparison *, size_t n, const struct rules *);

#endif
