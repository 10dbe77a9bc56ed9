#include "forest.h"
#include "figure.h"
#include "json.h"
#include "verdict.h"
#include "markup.h"
#include "mem.h"
#include "model.h"
#include "plot.h"
#include "stats.h"
#include "str.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 60 }; /* of the plot */

/* The scale covers 97 % of the interval ends; a mark beyond it is an arrow. */
struct forest
forest_new(const struct model *m)
{
	double *v = mem_array(2 * m->ndeltas + 1, sizeof *v);
	struct forest f = {.span = .02};
	size_t n = 0;

	for (size_t i = 0; i < m->ndeltas; i++) {
		const struct delta *d = &m->deltas[i];
		double lo = fabs(log(isnan(d->lo) ? d->ratio : d->lo));
		double hi = fabs(log(isnan(d->hi) ? d->ratio : d->hi));

		if (isfinite(lo))
			v[n++] = lo;
		if (isfinite(hi))
			v[n++] = hi;
	}
	if (n) {
		stats_sort(v, n);
		f.span = fmax(f.span, 1.1 * v[(n - 1) * 97 / 100]);
	}
	free(v);
	return f;
}

void
forest_ends(const struct forest *f, char lo[32], char hi[32])
{
	double down = 100 * expm1(-f->span), up = 100 * expm1(f->span);

	snprintf(lo, 32, "%+.*f%%", down > -10, down);
	snprintf(hi, 32, "%+.*f%%", up < 10, up);
}

void
forest_percent(struct str *s, const struct json *rec, double ratio)
{
	const struct json *median = json_get(rec, "median");
	const char *zero = verdict_name_zero(json_num(json_at(median, 0), NAN),
	    json_num(json_at(median, 1), NAN));

	if (zero || isnan(ratio))
		str_add(s, zero ? zero : "no ratio");
	else
		str_printf(s, "%+.1f%%", 100 * (ratio - 1));
}

void
forest_interval(struct str *s, double lo, double hi)
{
	if (!isnan(lo) && !isnan(hi))
		str_printf(
		    s, " [%+.1f%%, %+.1f%%]", 100 * (lo - 1), 100 * (hi - 1));
}

void
forest_change(struct str *s, const struct delta *d)
{
	forest_percent(s, d->rec, d->ratio);
	forest_interval(s, d->lo, d->hi);
}

static double
map_ratio(const struct forest *f, double left, double ratio)
{
	double part = log(ratio) / f->span;

	return left + FOREST_WIDTH / 2. * (1 + fmax(-1, fmin(1, part)));
}

void
forest_row(struct str *s, const struct forest *f, const struct delta *d,
    double left, double y)
{
	double margin = json_get_num(d->rec, "margin", NAN);
	double lo = isnan(d->lo) ? d->ratio : d->lo;
	double hi = isnan(d->hi) ? d->ratio : d->hi;
	double x = map_ratio(f, left, d->ratio);
	const char *name = model_verdict_name(d->verdict);

	if (margin > 0 && margin < 1) {
		double from = map_ratio(f, left, 1 - margin);

		str_printf(s,
		    "<rect class=\"margin\" x=\"%.1f\" y=\"%.1f\" "
		    "width=\"%.1f\" height=\"%d\"/>",
		    from, y - FOREST_HEIGHT / 2.,
		    map_ratio(f, left, 1 / (1 - margin)) - from, FOREST_HEIGHT);
	}
	str_printf(s, "<path class=\"zero\" d=\"M%.1f %.1fv%d\"/>",
	    left + FOREST_WIDTH / 2., y - FOREST_HEIGHT / 2., FOREST_HEIGHT);
	if (!(d->ratio > 0))
		return;
	str_printf(s, "<path class=\"span %s\" d=\"M%.1f %.1fH%.1f\"/>", name,
	    map_ratio(f, left, fmax(lo, 1e-9)), y,
	    map_ratio(f, left, fmax(hi, 1e-9)));
	if (fabs(log(d->ratio)) <= f->span)
		str_printf(s,
		    "<path class=\"mark %s\" d=\"M%.1f %.1fl4.5 4.5l-4.5 "
		    "4.5l-4.5 -4.5z\"/>",
		    name, x, y - 4.5);
	else /* an arrow that points off the scale */
		str_printf(s,
		    "<path class=\"mark %s\" d=\"M%.1f %.1fl%d 5l%d 5z\"/>",
		    name, x, y - 5, d->ratio > 1 ? 7 : -7,
		    d->ratio > 1 ? -7 : 7);
}

/* Draws the same rows as a separate plot, with names and numbers. */
void
figure_comparison(struct str *s, const struct model *m, bool whole)
{
	struct forest f = forest_new(m);
	size_t n = 0, gates = 0;
	double y = 52, left = 420;
	struct str t = {0}, cut = {0};
	char lo[32], hi[32];

	for (size_t i = 0; i < m->ndeltas; i++)
		gates += m->deltas[i].gate;
	gates = gates ? gates : m->ndeltas;
	n = gates < ROWS ? gates : ROWS;
	str_printf(&t, "Changes with 95%% intervals, %zu of %zu", n, gates);
	plot_head(s, 980, y + 26 * (double)n + 34, t.s, whole);
	forest_ends(&f, lo, hi);
	for (size_t i = 0; i < n; i++, y += 26) {
		const struct delta *d = &m->deltas[i];

		str_clear(&t);
		str_clear(&cut);
		str_printf(&t, "%s ", d->kase->name);
		str_add(&t, d->metric);
		markup_cut(&cut, t.s, 60);
		markup_printf(s,
		    "<text class=\"name end\" x=\"408\" y=\"%.1f\">%s</text>",
		    y + 4, cut.s);
		forest_row(s, &f, d, left, y);
		str_clear(&t);
		forest_change(&t, d);
		str_printf(&t, "  %s", model_verdict_name(d->verdict));
		markup_printf(s,
		    "<text class=\"name\" x=\"%.1f\" y=\"%.1f\">%s</text>\n",
		    left + FOREST_WIDTH + 14, y + 4, t.s);
	}
	str_printf(s,
	    "<text class=\"tick\" x=\"%.1f\" y=\"%.1f\">%s</text>"
	    "<text class=\"tick mid\" x=\"%.1f\" y=\"%.1f\">0</text>"
	    "<text class=\"tick end\" x=\"%.1f\" y=\"%.1f\">%s</text></svg>\n",
	    left, y + 8, lo, left + FOREST_WIDTH / 2., y + 8,
	    left + FOREST_WIDTH, y + 8, hi);
	str_free(&t);
	str_free(&cut);
}
