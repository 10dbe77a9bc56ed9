/*
 * Draws a call tree as a flame graph: an SVG document without external
 * resources, or an element of an HTML page. Widths are percentages, so that the
 * graph follows the width of the window, and letters keep their size.
 */
#ifndef SVG_H
#define SVG_H

#include <stdbool.h>

struct calltree;
struct diff;
struct str;

struct svg_opts {
	const char *title; /* NULL for the default title */
	const char *unit;  /* unit of the counts; NULL for samples */
	bool icicle;       /* root on top */
	bool inlined;      /* an element, which needs a page with the title, and
			    * with the style sheet and the script of html.h */
	double width;      /* pixels where the window does not tell it */
	double min_share;  /* omit frames with less */
};

/* Returns the title of the graph; borrowed. */
const char *svg_title(const struct diff *, const struct svg_opts *);

/* 'd' is NULL, or gives the widths and colours of a differential graph. */
void svg_write(struct str *, const struct calltree *, const struct diff *d,
    const struct svg_opts *);

#endif
