/*
 * Draws a plot as SVG: open, marks, close. A look is the number of a subject's
 * colour and shape; the style sheet defines it, and the classes. A plot in a
 * file of its own includes the style sheet, its title and a legend; a page
 * includes the style sheet once.
 *
 *   struct plot p = {.to = s, .x = ..., .y = ..., .label = "rps"};
 *   plot_open(&p);
 *   plot_dot(&p, 1, 2.5, 0, "run 1: 2.5");
 *   plot_close(&p);
 */
#ifndef PLOT_H
#define PLOT_H

#include <stdbool.h>
#include <stddef.h>

#include "axis.h"

struct str;

enum { PLOT_LOOKS = 6 }; /* number of looks; as a look: no style */

struct plot {
	struct str *to;
	struct axis x, y;          /* fitted to all that is drawn */
	const char *label;         /* what the plot shows; borrowed */
	const char *attributes;    /* further ones of the element, or NULL */
	bool whole;                /* a separate file */
	double width, height;      /* pixels; 0: default */
	const char *const *legend; /* names by look, if whole, or NULL */
	size_t nlegend;
	double rows;  /* pixels that rows take below each other: y is -1 for
		       * each pixel from their top, without ticks; 0: no rows */
	double names; /* pixels for the names of rows; 0: default */
	const char *const *xnames; /* names at x = 0, 1, ...: the axis has all
				    * of these; NULL: ticks */
	size_t nxnames;
	bool labels;     /* has room for plot_label */
	double ended[2]; /* where the last label on each of two lines ends */
	bool own_legend; /* the legend is not that of the page: draw it */
	double left, top, right,
	    bottom; /* of the plotting area, set by plot_open */
};

/* Adds the style sheet of plots in a page. */
void plot_add_style(struct str *);

/* Draws axes and titles; adds margins to the axes. */
void plot_open(struct plot *);
void plot_close(struct plot *);

/* NAN interrupts a line; points outside of the axes are clipped. */
void plot_line(struct plot *, const double *x, const double *y, size_t n,
    size_t look, const char *class);
void plot_band(struct plot *, const double *x, const double *lo,
    const double *hi, size_t n, size_t look);
/* Draws many dots as one element, which is small, and those above or below the
 * axes as arrows. */
void plot_dots(
    struct plot *, const double *x, const double *y, size_t n, size_t look);
/* 'title' is the tooltip, or NULL. */
void plot_dot(
    struct plot *, double x, double y, size_t look, const char *title);
void plot_whisker(struct plot *, double x, double lo, double hi, size_t look);
void plot_vertical(
    struct plot *, double x, const char *class, const char *text);
void plot_horizontal(struct plot *, double y, size_t look, const char *class);

/* Writes a text above the plot, unless those before it leave no room. Call it
 * by rising x. */
void plot_label(struct plot *, double x, const char *class, const char *text);

/* Writes the name of a row beside it; of a long one 'brief', or a part. */
void plot_row_name(
    struct plot *, double y, const char *name, const char *brief);

/* Draws one marker at a point in pixels. */
void plot_marker(
    struct str *, double px, double py, size_t look, const char *title);

/* Opens a picture without axes in a file of its own. */
void plot_head(struct str *, double width, double height, const char *label);

#endif
