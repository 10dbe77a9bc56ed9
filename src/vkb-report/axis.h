/*
 * An axis of a plot: from values to a part of its length, its ticks and what
 * stands at them.
 */
#ifndef AXIS_H
#define AXIS_H

#include <stddef.h>

#include "num.h"

enum axis_scale {
	AXIS_LINEAR,
	AXIS_LOG, /* values above 0 */
	AXIS_TAIL /* parts of 1 below it: each nine takes the same room */
};

struct axis {
	enum axis_scale scale;
	double lo, hi;     /* lo > hi: nothing was fitted */
	const char *label; /* borrowed; NULL: none */
};

#define AXIS(s, l) ((struct axis){(s), 1, 0, (l)})

/* Widens it to hold v; NAN, what is beyond 1e300, on a logarithmic one what is
 * not above 0 and on a tail what is not below 1 do nothing. */
void axis_fit(struct axis *, double v);

/* A little room at both ends, and some where all values are one. */
void axis_ease(struct axis *);

double axis_at(const struct axis *, double v); /* 0 at lo, 1 at hi */

enum { AXIS_TICKS = 16 };
/* About so many as are wanted, at most AXIS_TICKS, rising; how many. */
size_t axis_ticks(const struct axis *, size_t wanted, double to[AXIS_TICKS]);

/* One of these ticks for people. 'buf' is returned. */
char *axis_text(const struct axis *, double tick, char buf[NUM_BUF]);

#endif
