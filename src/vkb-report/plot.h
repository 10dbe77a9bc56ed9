/*
 * A plot as SVG, drawn piece by piece: open, marks, close. Colours and shapes
 * are those of subjects, by their look, a number; classes say the rest, which
 *the style of the page gives looks. A plot for a file of its own brings a
 *style, its title and a legend.
 *
 *	struct plot p = {.to = s, .x = ..., .y = ..., .label = "rps"};
 *	plot_open(&p);
 *	plot_dot(&p, 1, 2.5, 0, "run 1: 2.5");
 *	plot_close(&p);
 */
#ifndef PLOT_H
#define PLOT_H

#include <stdbool.h>
#include <stddef.h>

#include "axis.h"

struct str;

enum { PLOT_LOOKS = 6 }; /* that there are; this one is of none */

struct plot {
	struct str *to;
	struct axis x, y;          /* with all that is drawn fitted */
	const char *label;         /* what it shows, in words; borrowed */
	bool whole;                /* a file of its own */
	double width, height;      /* 0: as usual */
	const char *const *legend; /* whole: names by look; NULL: none */
	size_t nlegend;
	const char *const *xnames; /* what stands at x 0, 1, ...; NULL: ticks */
	size_t nxnames;
	double left, top, right,
	    bottom; /* of the room for marks: set by open */
};

/* Eases the axes. */
void plot_open(struct plot *);
void plot_close(struct plot *);

/* NAN breaks a line; what is outside of the axes is clipped. */
void plot_line(struct plot *, const double *x, const double *y, size_t n,
    size_t look, const char *class);
void plot_band(struct plot *, const double *x, const double *lo,
    const double *hi, size_t n, size_t look);
/* 'title' is what it says under a pointer; NULL: nothing. */
void plot_dot(
    struct plot *, double x, double y, size_t look, const char *title);
void plot_whisker(struct plot *, double x, double lo, double hi, size_t look);
void plot_upright(struct plot *, double x, const char *class, const char *text);
void plot_level(struct plot *, double y, size_t look, const char *class);

/* The marker alone, at a point of the picture. */
void plot_marker(
    struct str *, double px, double py, size_t look, const char *title);

/* The head of a picture that is no plot of axes. */
void plot_head(
    struct str *, double width, double height, const char *label, bool whole);

#endif
