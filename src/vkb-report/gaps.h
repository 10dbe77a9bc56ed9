/*
 * What a model takes from its other records where a case of a subject has no
 * summary: failed runs, and the values of deltas.
 */
#ifndef GAPS_H
#define GAPS_H

struct model;

/* Completes the cells, then counts their runs. Requires all records. */
void gaps_fill(struct model *);

#endif
