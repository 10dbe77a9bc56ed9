/*
 * One axis of a plot: maps values to positions, chooses ticks and formats them.
 */
#ifndef AXIS_H
#define AXIS_H

#include <stddef.h>

#include "num.h"

enum axis_scale {
	AXIS_LINEAR,
	AXIS_LOG, /* values above 0 */
	AXIS_TAIL /* quantiles below 1: each further nine takes equal space */
};

struct axis {
	enum axis_scale scale;
	double lo, hi;     /* lo > hi: no value was added */
	const char *label; /* borrowed; NULL: no label */
};

#define AXIS(s, l) ((struct axis){(s), 1, 0, (l)})

/* Widens the axis to include v. Ignores NAN, |v| above 1e300, values not above
 * 0 on a logarithmic axis and values not below 1 on a tail axis. */
void axis_fit(struct axis *, double v);

/* Adds a margin at both ends. An axis of one value or none gets a width. */
void axis_add_margin(struct axis *);

double axis_position(const struct axis *, double v); /* 0 at lo, 1 at hi */

enum { AXIS_TICKS = 16 };
/* Writes about 'wanted' rising ticks, at most AXIS_TICKS; returns how many. */
size_t axis_ticks(const struct axis *, size_t wanted, double to[AXIS_TICKS]);

/* Formats a tick for people into 'buf'. Returns 'buf'. */
char *axis_text(const struct axis *, double tick, char buf[NUM_BUF]);

#endif
