/* Values of counted and of measured runs in one series. */
#ifndef KINDS_H
#define KINDS_H

#include <stddef.h>

struct branch_values;
struct column_part;

/*
 * Of a metric that is exact in counted runs, keeps those of its values 'v', one
 * for each run of the part, that are of counted or of other runs, as those of
 * the newest of 'npoints' points are, counted ones first. Sets 'counted' and
 * 'others'.
 */
void kinds_keep_one(const struct column_part *, size_t npoints, double *v,
    struct branch_values *);

#endif
