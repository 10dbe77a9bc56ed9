#include "plot.h"
#include "asset.h"
#include "markup.h"
#include "str.h"

#include <math.h>
#include <string.h>

#define WIDTH 400
#define HEIGHT 220
#define LETTER 6.2
#define TICK 13   /* least distance of ticks below each other */
#define GUTTER 84 /* beside rows */

extern const char plot_style[];
ASSET(plot_style, "src/vkb-report/plot.css");

static double
map_x(const struct plot *p, double x)
{
	return p->left + (p->right - p->left) * axis_position(&p->x, x);
}

static double
map_y(const struct plot *p, double y)
{
	return p->bottom - (p->bottom - p->top) * axis_position(&p->y, y);
}

static void
draw_text(struct str *s, double x, double y, const char *class, const char *t)
{
	markup_printf(s, "<text class=\"%s\" x=\"%.1f\" y=\"%.1f\">%s</text>",
	    class, x, y, t);
}

void
plot_head(
    struct str *s, double width, double height, const char *label, bool whole)
{
	if (!whole) {
		markup_printf(s,
		    "<svg class=\"plot\" viewBox=\"0 0 %.0f %.0f\" "
		    "role=\"img\" aria-label=\"%s\">",
		    width, height, label);
		return;
	}
	markup_printf(s,
	    "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
	    "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"plot\" "
	    "width=\"%.0f\" height=\"%.0f\" viewBox=\"0 0 %.0f %.0f\">\n"
	    "<title>%s</title>\n<style>\n",
	    width, height, width, height, label);
	str_add(s, plot_style);
	markup_printf(s,
	    "</style>\n"
	    "<rect class=\"ground\" width=\"100%%\" height=\"100%%\"/>\n"
	    "<text class=\"title\" x=\"12\" y=\"22\">%s</text>\n",
	    label);
}

/* Draws the legend on as many lines as needed. Returns the number of lines. */
static double
draw_legend(struct plot *p, double y)
{
	double x = 12, lines = p->nlegend > 0;

	for (size_t i = 0; i < p->nlegend; i++) {
		double w = 24 + LETTER * (double)strlen(p->legend[i]);

		if (x > 12 && x + w > p->width - 12) {
			x = 12;
			y += 18;
			lines++;
		}
		plot_marker(p->to, x + 5, y - 4, i, NULL);
		draw_text(p->to, x + 14, y, "name", p->legend[i]);
		x += w;
	}
	return lines;
}

static void
draw_y_ticks(struct plot *p, const double *v, size_t n)
{
	char buf[NUM_BUF];
	double last = INFINITY;

	for (size_t i = 0; i < n; i++) {
		double y = map_y(p, v[i]);

		if (last - y < TICK) /* it would be on that below it */
			continue;
		last = y;
		str_printf(p->to,
		    "<path class=\"grid\" d=\"M%.1f %.1fH%.1f\"/>", p->left, y,
		    p->right);
		draw_text(p->to, p->left - 6, y + 4, "tick end",
		    axis_text(&p->y, v[i], buf));
	}
}

static void
draw_x_ticks(struct plot *p)
{
	double v[AXIS_TICKS];
	size_t n = axis_ticks(&p->x, p->whole ? 8 : 5, v);
	char buf[NUM_BUF];
	double end = -INFINITY;

	for (size_t i = 0; i < n; i++) {
		double x = map_x(p, v[i]), half;

		axis_text(&p->x, v[i], buf);
		half = LETTER * (double)strlen(buf) / 2;
		if (fmin(x, p->width - half - 1) - half < end + LETTER)
			continue;
		end = fmin(x, p->width - half - 1) + half;
		str_printf(p->to,
		    "<path class=\"grid\" d=\"M%.1f %.1fV%.1f\"/>", x, p->top,
		    p->bottom);
		draw_text(p->to, fmin(x, p->width - half - 1), p->bottom + 15,
		    "tick mid", buf);
	}
}

/* Draws the first name, the last, and those between that fit. */
static void
draw_x_names(struct plot *p)
{
	double end = -1e9;

	for (size_t i = 0; i < p->nxnames; i++) {
		double w = LETTER * (double)strlen(p->xnames[i]);
		double x = map_x(p, (double)i), at = x - w / 2;
		bool last = i + 1 == p->nxnames;

		if (at + w > p->right + 8)
			at = p->right + 8 - w;
		if (at < end + 10 && !last)
			continue;
		if (last && at < end + 10)
			break;
		draw_text(p->to, at, p->bottom + 15, "tick", p->xnames[i]);
		end = at + w;
	}
}

static double
widest_tick(const struct plot *p, const double *v, size_t n)
{
	char buf[NUM_BUF];
	size_t most = 0;

	for (size_t i = 0; i < n; i++) {
		size_t w = strlen(axis_text(&p->y, v[i], buf));

		most = w > most ? w : most;
	}
	return LETTER * (double)most;
}

void
plot_open(struct plot *p)
{
	double v[AXIS_TICKS], y = 26;
	size_t n;

	if (p->width == 0)
		p->width = p->whole ? 2 * WIDTH : WIDTH;
	if (p->rows > 0)
		p->height = p->rows + 56 +
		    (p->whole ? 22 + 18 * (double)p->nlegend : 0);
	if (p->height == 0)
		p->height = p->whole ? 2 * HEIGHT : HEIGHT;
	axis_add_margin(&p->x);
	if (p->rows > 0)
		p->y = (struct axis){AXIS_LINEAR, -p->rows, 0, NULL};
	else
		axis_add_margin(&p->y);
	plot_head(p->to, p->width, p->height, p->label, p->whole);
	p->top = 20;
	if (p->whole) {
		y += 18;
		p->top = y + 18 * draw_legend(p, y) + 4;
	} else if (p->own_legend) {
		p->top += 18 * draw_legend(p, 12);
	}
	p->right = p->width - 12;
	p->bottom = p->height - (p->x.label ? 36 : 22);
	if (p->rows > 0)
		p->bottom = p->top + p->rows;
	n = p->rows > 0 ? 0 : axis_ticks(&p->y, p->whole ? 7 : 4, v);
	p->left = p->rows > 0 ? GUTTER : 14 + widest_tick(p, v, n);
	draw_y_ticks(p, v, n);
	if (p->xnames)
		draw_x_names(p);
	else
		draw_x_ticks(p);
	if (p->y.label)
		draw_text(p->to, 4, p->top - 8, "axis", p->y.label);
	if (p->x.label)
		draw_text(p->to, (p->left + p->right) / 2, p->bottom + 31,
		    "axis mid", p->x.label);
	str_addc(p->to, '\n');
}

void
plot_row_name(struct plot *p, double y, const char *name, const char *brief)
{
	size_t most = (size_t)((GUTTER - 8) / LETTER);
	struct str t = {0};

	str_add(&t, "");
	if (strlen(name) > most)
		markup_cut(&t, brief ? brief : name, most - 3);
	else
		str_visible(&t, name);
	draw_text(p->to, p->left - 6, map_y(p, y) + 4, "tick end", t.s);
	str_free(&t);
}

void
plot_close(struct plot *p)
{
	str_add(p->to, p->whole ? "</svg>\n" : "</svg>");
}

static bool
is_inside(const struct plot *p, double x, double y)
{
	return x >= p->x.lo && x <= p->x.hi && y >= p->y.lo && y <= p->y.hi;
}

void
plot_line(struct plot *p, const double *x, const double *y, size_t n,
    size_t look, const char *class)
{
	bool on = false;

	str_printf(p->to, "<path class=\"%s s%zu\" d=\"", class, look);
	for (size_t i = 0; i < n; i++) {
		bool in = is_inside(p, x[i], y[i]); /* false for NAN */

		if (in)
			str_printf(p->to, "%c%.1f %.1f", on ? 'L' : 'M',
			    map_x(p, x[i]), map_y(p, y[i]));
		on = in;
	}
	str_add(p->to, "\"/>");
}

/* Returns false for NAN. */
static bool
overlaps_plot(const struct plot *p, double x, double lo, double hi)
{
	return x >= p->x.lo && x <= p->x.hi && lo <= p->y.hi && hi >= p->y.lo;
}

void
plot_band(struct plot *p, const double *x, const double *lo, const double *hi,
    size_t n, size_t look)
{
	bool on = false;

	for (size_t i = 0; i < n; i++) {
		if (!overlaps_plot(p, x[i], lo[i], hi[i]))
			continue;
		if (!on)
			str_printf(
			    p->to, "<path class=\"band s%zu\" d=\"", look);
		str_printf(p->to, "%c%.1f %.1f", on ? 'L' : 'M', map_x(p, x[i]),
		    map_y(p, fmax(lo[i], p->y.lo)));
		on = true;
	}
	for (size_t i = n; i-- > 0;)
		if (overlaps_plot(p, x[i], lo[i], hi[i]))
			str_printf(p->to, "L%.1f %.1f", map_x(p, x[i]),
			    map_y(p, fmin(hi[i], p->y.hi)));
	str_add(p->to, on ? "Z\"/>" : "");
}

void
plot_marker(struct str *s, double x, double y, size_t look, const char *title)
{
	static const char *const shapes[PLOT_LOOKS] = {
	    "m-3.2 0a3.2 3.2 0 1 0 6.4 0a3.2 3.2 0 1 0 -6.4 0z",
	    "m-2.9 -2.9h5.8v5.8h-5.8z", "m0 -3.8l3.6 6.4h-7.2z",
	    "m0 -4l4 4l-4 4l-4 -4z", "m0 3.8l3.6 -6.4h-7.2z",
	    "m-1.2 -3.6h2.4v2.4h2.4v2.4h-2.4v2.4h-2.4v-2.4h-2.4v-2.4h2.4z"};

	str_printf(s, "<path class=\"dot s%zu\" d=\"M%.1f %.1f%s\"", look, x, y,
	    shapes[look < PLOT_LOOKS ? look : 0]);
	if (!title) {
		str_add(s, "/>");
		return;
	}
	markup_printf(s, "><title>%s</title></path>", title);
}

void
plot_dot(struct plot *p, double x, double y, size_t look, const char *title)
{
	if (is_inside(p, x, y))
		plot_marker(p->to, map_x(p, x), map_y(p, y), look, title);
}

void
plot_whisker(struct plot *p, double x, double lo, double hi, size_t look)
{
	if (is_inside(p, x, lo) && is_inside(p, x, hi))
		str_printf(p->to,
		    "<path class=\"line s%zu\" d=\"M%.1f %.1fV%.1f\"/>", look,
		    map_x(p, x), map_y(p, lo), map_y(p, hi));
}

void
plot_vertical(struct plot *p, double x, const char *class, const char *t)
{
	if (x < p->x.lo || x > p->x.hi)
		return;
	str_printf(p->to, "<path class=\"%s\" d=\"M%.1f %.1fV%.1f\">", class,
	    map_x(p, x), p->top, p->bottom);
	if (t)
		markup_printf(p->to, "<title>%s</title>", t);
	str_add(p->to, "</path>");
}

void
plot_horizontal(struct plot *p, double y, size_t look, const char *class)
{
	double x[2] = {p->x.lo, p->x.hi}, v[2] = {y, y};

	plot_line(p, x, v, 2, look, class);
}
