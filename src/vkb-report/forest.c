#include "forest.h"
#include "markup.h"
#include "mem.h"
#include "metric.h"
#include "model.h"
#include "plot.h"
#include "stats.h"
#include "str.h"
#include "vkb-compare/judge.h"
#include "vkb-compare/report.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The scale covers all interval ends, but for a few that are three times as far
 * as the others: a mark beyond it is an arrow. */
struct forest
forest_new(const struct row *const *rows, size_t n, const char *metric)
{
	double *v = mem_array(2 * n + 1, sizeof *v);
	enum metric_better better = metric_guess(metric).better;
	struct forest f = {.span = .02,
	    .mirrored = better == METRIC_LOWER,
	    .judged = better != METRIC_NEITHER};
	size_t ends = 0;

	for (size_t i = 0; i < n; i++) {
		const struct verdict_facts *d = &rows[i]->facts;
		double lo = fabs(log(isnan(d->lo95) ? d->ratio : d->lo95));
		double hi = fabs(log(isnan(d->hi95) ? d->ratio : d->hi95));

		if (isfinite(lo))
			v[ends++] = lo;
		if (isfinite(hi))
			v[ends++] = hi;
	}
	if (ends) {
		stats_sort(v, ends);
		f.span = fmax(f.span,
		    1.1 *
			fmin(v[ends - 1], 3 * v[(97 * (ends - 1) + 99) / 100]));
	}
	free(v);
	return f;
}

void
forest_ends(const struct forest *f, char lo[32], char hi[32])
{
	double v[2] = {100 * expm1(-f->span), 100 * expm1(f->span)};
	const char *words[2] = {
	    f->judged ? " worse" : "", f->judged ? " better" : ""};

	for (size_t i = 0; i < 2; i++) {
		double end = v[f->mirrored ? !i : i];

		snprintf(i ? hi : lo, 32, "%+.*f%%%s", fabs(end) < 10, end,
		    words[i]);
	}
}

/* Returns where a ratio is, from -1 to 1 on the scale. */
static double
place_ratio(const struct forest *f, double ratio)
{
	double part = log(fmax(ratio, 1e-300)) / f->span;

	return f->mirrored ? -part : part;
}

static double
map_place(double left, double place)
{
	return left + FOREST_WIDTH / 2. * (1 + fmax(-1, fmin(1, place)));
}

/* Draws an arrow at the right end of the scale, or at the left one. */
static void
draw_arrow(struct str *s, double left, double y, bool right, const char *name)
{
	str_printf(s, "<path class=\"mark %s\" d=\"M%.1f %.1fl%d 5v-10z\"/>",
	    name, left + (right ? FOREST_WIDTH : 0), y, right ? -7 : 7);
}

static void
draw_margin(struct str *s, const struct forest *f, double margin, double left,
    double top)
{
	double from, end;

	if (!(margin > 0 && margin < 1))
		return;
	from = map_place(left, log1p(-margin) / f->span);
	end = map_place(left, -log1p(-margin) / f->span);
	str_printf(s, "<path class=\"margin\" d=\"M%.1f %.1fH%.1fv%dH%.1fz\"/>",
	    from, top, end, FOREST_HEIGHT, from);
}

void
forest_row(struct str *s, const struct forest *f, const struct row *r,
    double left, double y)
{
	const struct verdict_facts *d = &r->facts;
	const char *name = verdict_name(r->verdict);
	double lo = place_ratio(f, isnan(d->lo95) ? d->ratio : d->lo95);
	double hi = place_ratio(f, isnan(d->hi95) ? d->ratio : d->hi95);
	double at = place_ratio(f, d->ratio), top = y - FOREST_HEIGHT / 2.;

	draw_margin(s, f, r->margin, left, top);
	str_printf(s, "<path class=\"zero\" d=\"M%.1f %.1fv%d\"/>",
	    left + FOREST_WIDTH / 2., top, FOREST_HEIGHT);
	if (!(d->ratio > 0))
		return;
	str_printf(s, "<path class=\"span %s\" d=\"M%.1f %.1fH%.1f\"/>", name,
	    map_place(left, lo), y, map_place(left, hi));
	if (fmin(lo, hi) < -1)
		draw_arrow(s, left, y, false, name);
	if (fmax(lo, hi) > 1)
		draw_arrow(s, left, y, true, name);
	if (fabs(at) <= 1)
		str_printf(s,
		    "<path class=\"mark %s\" d=\"M%.1f %.1fl4.5 4.5l-4.5 "
		    "4.5l-4.5 -4.5z\"/>",
		    name, map_place(left, at), y - 4.5);
}

/* --- the plot of all rows */

enum { ROWS = 60, ROW = 26, NAMES = 408, LEFT = 420, PLOT_WIDTH = 980 };

/* Returns the *n rows of a metric: the judged ones, or all if none is. */
static const struct row **
choose_rows(const struct model *m, const char *metric, size_t *n)
{
	const struct row **v = mem_array(m->nresults + 1, sizeof *v);
	bool gates = false;

	*n = 0;
	for (size_t i = 0; i < m->nresults; i++)
		gates |= m->results[i].row->gate;
	for (size_t i = 0; i < m->nresults; i++) {
		const struct row *r = m->results[i].row;

		if ((r->gate || !gates) && strcmp(r->name, metric) == 0)
			v[(*n)++] = r;
	}
	return v;
}

static void
draw_named_row(struct str *s, const struct forest *f, const struct row *r,
    const char *name, double y)
{
	struct str t = {0};

	str_add(&t, "");
	markup_cut(&t, name, 60);
	markup_printf(s,
	    "<text class=\"name end\" x=\"%d\" y=\"%.1f\">%s</text>", NAMES,
	    y + 4, t.s);
	forest_row(s, f, r, LEFT, y);
	str_clear(&t);
	report_change(&t, r);
	str_printf(&t, "  %s", verdict_word(r->verdict));
	markup_printf(s, "<text class=\"name\" x=\"%d\" y=\"%.1f\">%s</text>\n",
	    LEFT + FOREST_WIDTH + 14, y + 4, t.s);
	str_free(&t);
}

/* Draws the name of the metric and the ends of the scale of its rows. */
static void
draw_scale(struct str *s, const struct forest *f, const char *metric, double y)
{
	char lo[32], hi[32];
	struct str t = {0};

	metric_write_label(&t, metric);
	forest_ends(f, lo, hi);
	markup_printf(s,
	    "<text class=\"title\" x=\"12\" y=\"%.1f\">%s</text>"
	    "<text class=\"tick\" x=\"%d\" y=\"%.1f\">%s</text>"
	    "<text class=\"tick mid\" x=\"%d\" y=\"%.1f\">0</text>"
	    "<text class=\"tick end\" x=\"%d\" y=\"%.1f\">%s</text>\n",
	    y + 4, t.s, LEFT, y + 4, lo, LEFT + FOREST_WIDTH / 2, y + 4,
	    LEFT + FOREST_WIDTH, y + 4, hi);
	str_free(&t);
}

/* Draws the rows as a separate plot, with names and numbers, metric by metric,
 * at most ROWS. */
void
forest_draw(struct str *s, const struct model *m)
{
	size_t groups, n, shown = 0, all = 0;
	const char **metrics = model_compared(m, &groups);
	struct str rows = {0}, title = {0};
	double y = 26;

	for (size_t g = 0; g < groups; g++) {
		const struct row **v = choose_rows(m, metrics[g], &n);
		struct forest f = forest_new(v, n, metrics[g]);

		if (n && shown < ROWS)
			draw_scale(&rows, &f, metrics[g], y += ROW);
		for (size_t i = 0; i < n && shown < ROWS; i++, shown++)
			draw_named_row(&rows, &f, v[i],
			    model_case(m, v[i]->pair->side[0]->config)->name,
			    y += ROW);
		all += n;
		free(v);
	}
	str_printf(
	    &title, "Changes with 95%% intervals, %zu of %zu", shown, all);
	plot_head(s, PLOT_WIDTH, y + 20, title.s);
	str_addn(s, rows.s, rows.len);
	str_add(s, "</svg>\n");
	str_free(&rows);
	str_free(&title);
	free(metrics);
}
