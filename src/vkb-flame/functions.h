/* A table of functions, wherever they were called. */
#ifndef FUNCTIONS_H
#define FUNCTIONS_H

#include <stddef.h>

struct calltree;
struct str;

/*
 * Of the first column: the share of each function itself, and with what it
 * called. Those with less than 'min_share' of both are left out.
 */
void functions_table(struct str *, const struct calltree *, double min_share);

/*
 * Gained and lost, the largest change first: the shares of the functions
 * themselves on both sides, and whether they differ by more than chance. The
 * columns are those of diff.h.
 */
void functions_diff(struct str *, const struct calltree *, size_t na, size_t n,
    double min_share);

#endif
