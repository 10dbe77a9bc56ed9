/* Tables of functions, summed over all callers. */
#ifndef FUNCTIONS_H
#define FUNCTIONS_H

#include <stddef.h>

struct calltree;
struct str;

/*
 * Writes the share of each function of the first column, itself and with its
 * callees. Omits functions with less than 'min_share' of both.
 */
void functions_table(struct str *, const struct calltree *, double min_share);

/*
 * Writes the shares on both sides, the largest change first, and whether the
 * functions themselves differ significantly. The columns of the tree are those
 * of diff.h.
 */
void functions_diff(struct str *, const struct calltree *, size_t na, size_t n,
    double min_share);

#endif
