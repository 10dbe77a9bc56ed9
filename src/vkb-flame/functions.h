/* Tables of functions, summed over all callers. */
#ifndef FUNCTIONS_H
#define FUNCTIONS_H

#include <stddef.h>

struct calltree;
struct str;

/*
 * Writes the share of each function, itself and with its callees, the largest
 * first. With 'na' above 0, the columns of the tree are those of diff.h: writes
 * the shares on both sides, the largest change first, and whether the functions
 * themselves differ significantly. Omits functions below 'min_share'.
 */
void functions_write(struct str *, const struct calltree *, size_t na, size_t n,
    double min_share);

#endif
