/* A call tree as a flame graph: one SVG that needs nothing else. */
#ifndef SVG_H
#define SVG_H

#include <stdbool.h>

struct calltree;
struct diff;
struct str;

struct svg_opts {
	const char *title;
	bool icicle;      /* the root is on top */
	double width;     /* pixels */
	double min_share; /* frames with less are left out */
};

/* 'd' is NULL, or the differences that give the widths and colours. */
void svg_write(struct str *, const struct calltree *, const struct diff *d,
    const struct svg_opts *);

#endif
