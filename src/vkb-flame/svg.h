/* Draws a call tree as a flame graph: one SVG without external resources. */
#ifndef SVG_H
#define SVG_H

#include <stdbool.h>

struct calltree;
struct diff;
struct str;

struct svg_opts {
	const char *title;
	const char *unit; /* of counts; NULL: samples */
	bool icicle;      /* root on top */
	double width;     /* pixels */
	double min_share; /* omit frames with less */
};

/* 'd' is NULL, or gives the widths and colours of a differential graph. */
void svg_write(struct str *, const struct calltree *, const struct diff *d,
    const struct svg_opts *);

#endif
