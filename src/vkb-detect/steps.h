/*
 * The changes of a metric without noise, in a history.
 */
#ifndef STEPS_H
#define STEPS_H

#include <stddef.h>

struct branch_values;
struct changepoint;

/*
 * Finds all changes beyond the margin of n points. The runs of a commit may
 * differ: such a point shows a change if all of its values do; if they differ
 * by more than the margin, it shows nothing else. Returns the number of
 * changes; the caller frees *found.
 */
size_t steps_find(const struct branch_values *, size_t n, double margin,
    struct changepoint **found);

#endif
