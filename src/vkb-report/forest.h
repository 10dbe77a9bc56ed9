/*
 * Changes beside each other: a line each, its interval over a common scale.
 */
#ifndef FOREST_H
#define FOREST_H

#include <stddef.h>

struct delta;
struct model;
struct str;

struct forest {
	double span; /* of ln(ratio), to both sides of no change */
};

struct forest forest_new(const struct model *);

enum { FOREST_WIDTH = 200, FOREST_HEIGHT = 20 };

/* One as marks, FOREST_WIDTH wide, with its middle at 'y'. */
void forest_row(struct str *, const struct forest *, const struct delta *,
    double left, double y);

/* The ends of the scale for people: "-8.3%", "+9%". */
void forest_ends(const struct forest *, char lo[32], char hi[32]);

/* "-2.1%", or "-" where there is no ratio. */
void forest_percent(struct str *, double ratio);

/* " [-2.5%, -1.8%]", of ratios; nothing for NAN. */
void forest_interval(struct str *, double lo, double hi);

/* "-2.1% [-2.5%, -1.8%]" */
void forest_change(struct str *, const struct delta *);

#endif
