/*
 * A forest plot of one metric: one row for each change, with its interval, on a
 * common scale whose left half is worse, if one is.
 */
#ifndef FOREST_H
#define FOREST_H

#include <stdbool.h>
#include <stddef.h>

struct model;
struct row;
struct str;

struct forest {
	double span;   /* of |ln(ratio)|, on each side of no change */
	bool mirrored; /* lower is better: ratios above 1 are on the left */
	bool judged;   /* the left is worse */
};

/* The scale of n changes of one metric. */
struct forest forest_new(
    const struct row *const *, size_t n, const char *metric);

enum { FOREST_WIDTH = 200, FOREST_HEIGHT = 20 };

/* Draws the marks of one change, FOREST_WIDTH wide, centred at height 'y'. What
 * is beyond the scale ends in an arrow. */
void forest_row(struct str *, const struct forest *, const struct row *,
    double left, double y);

/* Formats the ends of the scale: "-8.3% worse", "+9% better". */
void forest_ends(const struct forest *, char lo[32], char hi[32]);

/* Draws the changes of all metrics as a file of their own, with names and
 * numbers. */
void forest_draw(struct str *, const struct model *);

#endif
