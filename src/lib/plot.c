#include "plot.h"
#include "asset.h"
#include "markup.h"
#include "str.h"

#include <math.h>
#include <string.h>

#define WIDTH 400
#define HEIGHT 220
#define LETTER 6.2
#define TICK 15   /* least distance of ticks below each other */
#define GUTTER 84 /* beside rows */
#define LINE 14   /* of labels above a plot */

extern const char plot_style[], file_colours[], page_colours[];
ASSET(plot_style, "src/lib/plot.css");
ASSET(file_colours, "src/lib/plotfile.css");
ASSET(page_colours, "src/lib/plotpage.css");

void
plot_add_style(struct str *s)
{
	str_add(s, page_colours);
	str_add(s, plot_style);
}

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
plot_head(struct str *s, double width, double height, const char *label)
{
	markup_printf(s,
	    "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
	    "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"plot\" "
	    "width=\"%.0f\" height=\"%.0f\" viewBox=\"0 0 %.0f %.0f\">\n"
	    "<title>%s</title>\n<style>\n",
	    width, height, width, height, label);
	str_add(s, file_colours);
	str_add(s, plot_style);
	markup_printf(s,
	    "</style>\n"
	    "<rect class=\"ground\" width=\"100%%\" height=\"100%%\"/>\n"
	    "<text class=\"title\" x=\"12\" y=\"22\">%s</text>\n",
	    label);
}

/* Opens the element of a plot in a page. */
static void
write_opening(const struct plot *p)
{
	markup_printf(p->to,
	    "<svg class=\"plot\" viewBox=\"0 0 %.0f %.0f\" role=\"img\" "
	    "aria-label=\"%s\"",
	    p->width, p->height, p->label);
	str_printf(p->to, p->attributes ? " %s>" : ">", p->attributes);
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

/* Returns where the name at x = i begins, and where it ends. */
static double
place_name(const struct plot *p, size_t i, double *end)
{
	double w = LETTER * (double)strlen(p->xnames[i]);
	double at = map_x(p, (double)i) - w / 2;

	at = fmax(p->left, fmin(at, p->right + 8 - w));
	*end = at + w;
	return at;
}

/* Draws the last name, and of the others those that fit; the same one again is
 * left out. */
static void
draw_x_names(struct plot *p)
{
	double free = -INFINITY, end, last;
	const char *was = "";

	if (!p->nxnames)
		return;
	last = place_name(p, p->nxnames - 1, &end);
	for (size_t i = 0; i < p->nxnames; i++) {
		double at = place_name(p, i, &end);

		if (at < free || strcmp(p->xnames[i], was) == 0 ||
		    (i + 1 < p->nxnames && end + 10 > last))
			continue;
		draw_text(p->to, at, p->bottom + 15, "tick", p->xnames[i]);
		was = p->xnames[i];
		free = end + 10;
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
		p->height = p->rows + 44 +
		    (p->whole ? 34 + 18 * (double)p->nlegend : 0);
	if (p->height == 0)
		p->height = p->whole ? 2 * HEIGHT : HEIGHT;
	if (p->xnames)
		p->x = (struct axis){
		    AXIS_LINEAR, -.5, (double)p->nxnames - .5, p->x.label};
	else
		axis_add_margin(&p->x);
	if (p->rows > 0)
		p->y = (struct axis){AXIS_LINEAR, -p->rows, 0, NULL};
	else
		axis_add_margin(&p->y);
	if (p->whole)
		plot_head(p->to, p->width, p->height, p->label);
	else
		write_opening(p);
	p->top = p->y.label || p->own_legend ? 20 : 8;
	p->ended[0] = p->ended[1] = -INFINITY;
	if (p->whole) {
		y += 18;
		p->top = y + 18 * draw_legend(p, y) + 4;
	} else if (p->own_legend) {
		p->top += 18 * draw_legend(p, 12);
	}
	if (p->labels)
		p->top += 2 * LINE;
	p->right = p->width - 12;
	p->bottom = p->height - (p->x.label ? 36 : 22);
	if (p->rows > 0)
		p->bottom = p->top + p->rows;
	n = p->rows > 0 ? 0 : axis_ticks(&p->y, p->whole ? 7 : 4, v);
	if (p->names == 0)
		p->names = GUTTER;
	p->left = p->rows > 0 ? p->names : 14 + widest_tick(p, v, n);
	draw_y_ticks(p, v, n);
	if (p->xnames)
		draw_x_names(p);
	else
		draw_x_ticks(p);
	if (p->y.label)
		draw_text(p->to, 4, p->top - 8 - (p->labels ? 2 * LINE : 0),
		    "axis", p->y.label);
	if (p->x.label)
		draw_text(p->to, (p->left + p->right) / 2, p->bottom + 31,
		    "axis mid", p->x.label);
	str_addc(p->to, '\n');
}

void
plot_row_name(struct plot *p, double y, const char *name, const char *brief)
{
	size_t most = (size_t)((p->names - 8) / LETTER);
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
plot_dots(
    struct plot *p, const double *x, const double *y, size_t n, size_t look)
{
	str_printf(p->to, "<path class=\"dots s%zu\" d=\"", look);
	for (size_t i = 0; i < n; i++)
		if (is_inside(p, x[i], y[i]))
			str_printf(p->to, "M%.1f %.1fh0", map_x(p, x[i]),
			    map_y(p, y[i]));
	str_add(p->to, "\"/>");
	for (size_t i = 0; i < n; i++)
		if (y[i] > p->y.hi || y[i] < p->y.lo)
			str_printf(p->to,
			    "<path class=\"mark\" d=\"M%.1f %.1fl-4 %dh8z\"/>",
			    map_x(p, x[i]), y[i] > p->y.hi ? p->top : p->bottom,
			    y[i] > p->y.hi ? 7 : -7);
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

void
plot_label(struct plot *p, double x, const char *class, const char *text)
{
	double w = 1.1 * LETTER * (double)strlen(text);
	double at = fmax(p->left, fmin(map_x(p, x) - w / 2, p->width - w - 2));

	for (size_t line = 0; line < 2; line++) {
		if (at < p->ended[line])
			continue;
		markup_printf(p->to,
		    "<text class=\"label %s\" x=\"%.1f\" y=\"%.1f\">%s"
		    "</text>",
		    class, at, p->top - 5 - (line ? 0 : LINE), text);
		p->ended[line] = at + w + LETTER;
		return;
	}
}
