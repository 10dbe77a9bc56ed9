/*
 * Draws the values of all cases: a row for each case, with a mark for each
 * subject at its median, and a line for the interval.
 */
#include "figure.h"
#include "json.h"
#include "markup.h"
#include "model.h"
#include "plot.h"
#include "str.h"

#include <math.h>
#include <stdio.h>

enum { ROWS = 60, WIDTH = 980, LEFT = 420, RIGHT = 950, STEP = 13, GAP = 12 };
#define FAR 50 /* of the largest value over the smallest: a scale of powers */

static double
map_value(const struct axis *x, double v)
{
	return LEFT + (RIGHT - LEFT) * axis_position(x, v);
}

static bool
has_metric(const struct kase *k, const char *metric)
{
	const struct cell *c[MODEL_LOOKS];
	size_t n = figure_cells(k, c);

	for (size_t i = 0; i < n; i++)
		if (model_metric(c[i], metric))
			return true;
	return false;
}

size_t
figure_count_values(const struct model *m, const char *metric)
{
	size_t n = 0;

	for (size_t i = 0; i < m->ncases; i++)
		n += has_metric(m->cases[i], metric);
	return n;
}

/* Chooses the scale: from 0, or of powers where the values are far apart. */
static struct axis
fit_axis(const struct model *m, const char *metric)
{
	struct axis x = AXIS(AXIS_LOG, NULL);

	for (size_t i = 0; i < m->ncells; i++) {
		const struct json *one = model_metric(&m->cells[i], metric);
		struct range ci = model_range(json_get(one, "ci95"));

		axis_fit(&x, json_get_num(one, "median", NAN));
		axis_fit(&x, ci.lo);
		axis_fit(&x, ci.hi);
	}
	if (!(x.lo > 0 && x.hi > FAR * x.lo)) {
		x.scale = AXIS_LINEAR;
		axis_fit(&x, 0);
	}
	axis_add_margin(&x);
	return x;
}

static void
draw_value(struct str *s, const struct axis *x, double y, const struct cell *c,
    const char *metric)
{
	const struct json *one = model_metric(c, metric);
	struct range ci = model_range(json_get(one, "ci95"));
	double median = json_get_num(one, "median", NAN);
	struct str t = {0};

	if (isnan(median) || (x->scale == AXIS_LOG && !(median > 0)))
		return;
	str_printf(&t, "%s: %.6g", c->subject->name, median);
	if (!isnan(ci.lo) && !isnan(ci.hi)) {
		str_printf(s,
		    "<path class=\"line s%zu\" d=\"M%.1f %.1fH%.1f\"/>",
		    c->subject->look, map_value(x, fmax(ci.lo, x->lo)), y,
		    map_value(x, ci.hi));
		str_printf(&t, " [%.6g, %.6g]", ci.lo, ci.hi);
	}
	plot_marker(s, map_value(x, median), y, c->subject->look, t.s);
	str_free(&t);
}

static void
draw_axis(struct str *s, const struct axis *x, double top, double bottom,
    const char *label)
{
	double ticks[AXIS_TICKS];
	size_t n = axis_ticks(x, 6, ticks);
	char buf[NUM_BUF];

	for (size_t i = 0; i < n; i++) {
		double at = map_value(x, ticks[i]);

		markup_printf(s,
		    "<path class=\"grid\" d=\"M%.1f %.1fV%.1f\"/>"
		    "<text class=\"tick mid\" x=\"%.1f\" y=\"%.1f\">%s</text>",
		    at, top, bottom, at, bottom + 14,
		    axis_text(x, ticks[i], buf));
	}
	markup_printf(s,
	    "<text class=\"axis mid\" x=\"%.1f\" y=\"%.1f\">%s</text>\n",
	    (LEFT + RIGHT) / 2., bottom + 30, label);
}

static void
draw_row(struct str *s, const struct axis *x, double y, const struct kase *k,
    const char *metric)
{
	const struct cell *c[MODEL_LOOKS];
	size_t n = figure_cells(k, c);
	struct str cut = {0};

	markup_cut(&cut, k->name, 60);
	markup_printf(s,
	    "<text class=\"name end\" x=\"%d\" y=\"%.1f\">%s</text>", LEFT - 10,
	    y + STEP * ((double)n - 1) / 2 + 4, cut.s ? cut.s : "");
	for (size_t i = 0; i < n; i++)
		draw_value(s, x, y + STEP * (double)i, c[i], metric);
	str_addc(s, '\n');
	str_free(&cut);
}

void
figure_values(const struct plot *p, const struct model *m, const char *metric)
{
	const struct cell *c[MODEL_LOOKS];
	struct axis x = fit_axis(m, metric);
	double y = 34, top, height = 0;
	size_t shown = 0;

	for (size_t i = 0; i < m->ncases && shown < ROWS; i++)
		if (has_metric(m->order[i], metric)) {
			height +=
			    GAP + STEP * (double)figure_cells(m->order[i], c);
			shown++;
		}
	top = y + 18 * (double)p->nlegend;
	plot_head(p->to, WIDTH, top + height + 40, p->label, p->whole);
	for (size_t i = 0; i < p->nlegend; i++, y += 18) {
		plot_marker(p->to, 17, y + 4, i, NULL);
		markup_printf(p->to,
		    "<text class=\"name\" x=\"28\" y=\"%.1f\">%s</text>", y + 8,
		    p->legend[i]);
	}
	draw_axis(p->to, &x, top, top + height, p->y.label);
	if (shown < figure_count_values(m, metric))
		markup_printf(p->to,
		    "<text class=\"tick\" x=\"28\" y=\"%.1f\">%zu of "
		    "%zu cases</text>",
		    top + height + 30, shown, figure_count_values(m, metric));
	y = top + GAP / 2. + STEP / 2.;
	shown = 0;
	for (size_t i = 0; i < m->ncases && shown < ROWS; i++)
		if (has_metric(m->order[i], metric)) {
			draw_row(p->to, &x, y, m->order[i], metric);
			y += GAP + STEP * (double)figure_cells(m->order[i], c);
			shown++;
		}
	str_add(p->to, "</svg>\n");
}
