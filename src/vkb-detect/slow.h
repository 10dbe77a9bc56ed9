/*
 * Slow changes: a level of a series that rises or falls along a slope.
 */
#ifndef SLOW_H
#define SLOW_H

#include <stdbool.h>
#include <stddef.h>

struct changepoint;
struct finding;

/*
 * Looks for a slope beyond the margin of the finding in the level v[from..to-1]
 * without the spikes among the n changes, by trend.h. Sets the place of the
 * finding, the points before the slope and on it, its facts (the fitted values
 * at its ends, as medians), its evidence, and what it changes for each commit.
 */
bool slow_find(struct finding *, const double *v, size_t from, size_t to,
    const struct changepoint *, size_t n);

#endif
