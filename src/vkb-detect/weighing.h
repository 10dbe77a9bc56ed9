/*
 * How much the points of a series speak for a change of its level, or a slope.
 *
 * The evidence is the logarithm of how much likelier the points are with a
 * change of any size than without one, by the model of vkb-compare
 * (judge/odds.h). The noise of the new level may be another, and neighbours may
 * resemble each other: how much is not known, so that the likelihoods are
 * summed over several values.
 */
#ifndef WEIGHING_H
#define WEIGHING_H

#include <stddef.h>

struct changepoint;
struct finding;
struct trend;

/* Collects the points of a level v[from..to-1] without the spikes among the n
 * changes, and their indexes, unless 'at' is NULL. Returns their number. */
size_t weighing_collect(const double *v, size_t from, size_t to,
    const struct changepoint *, size_t n, double *x, size_t *at);

/* Sets the facts and the evidence of a step from x to y, points in order. */
void weighing_levels(
    struct finding *, const double *x, size_t m, const double *y, size_t n);

/* Sets the evidence of a slope. */
void weighing_slope(struct finding *, const struct trend *);

#endif
