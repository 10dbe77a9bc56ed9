/*
 * The table of all results of comparisons, metric by metric.
 */
#include "changetext.h"
#include "figure.h"
#include "forest.h"
#include "html.h"
#include "intern.h"
#include "json.h"
#include "markup.h"
#include "mem.h"
#include "metric.h"
#include "model.h"
#include "page.h"
#include "str.h"
#include "judge/verdict.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 10000, PAGE = 100, KEY = 24 };

/* Orders names of metrics as their table, then by name. */
static int
compare_metrics(const void *a, const void *b)
{
	const char *x = *(const char *const *)a, *y = *(const char *const *)b;
	const struct metric *p = metric_find(x), *q = metric_find(y);

	if (p && q)
		return (p > q) - (p < q);
	return p || q ? (p ? -1 : 1) : strcmp(x, y);
}

const char **
page_metrics(const struct model *m, size_t *n)
{
	const char **v = mem_array(m->ndeltas + 1, sizeof *v);
	struct intern *seen = intern_new();

	*n = 0;
	for (size_t i = 0; i < m->ndeltas; i++)
		if (intern_id(seen, m->deltas[i].metric) == *n)
			v[(*n)++] = m->deltas[i].metric;
	if (*n)
		qsort(v, *n, sizeof *v, compare_metrics);
	intern_free(seen);
	return v;
}

void
page_badge(struct str *s, const struct delta *d, const char *answer)
{
	markup_printf(s, "<span class=\"badge %s\">%s</span>",
	    d->waived ? "waived" : model_verdict_name(d->verdict), answer);
}

void
page_chart(struct str *s, const struct forest *f, const struct delta *d)
{
	str_printf(s,
	    "<td class=\"chart\"><svg class=\"plot\" viewBox=\"0 0 %d %d\" "
	    "aria-hidden=\"true\">",
	    FOREST_WIDTH, FOREST_HEIGHT);
	forest_row(s, f, d, 0, FOREST_HEIGHT / 2.);
	str_add(s, "</svg></td>");
}

void
page_scale(struct str *s, const struct forest *f)
{
	char lo[32], hi[32];

	forest_ends(f, lo, hi);
	str_printf(s,
	    "<td class=\"chart\"><span class=\"ends\"><span>%s</span>"
	    "<span>%s</span></span></td>",
	    lo, hi);
}

/* --- the table */

/* Begins the results with what filters them: by metric, and by verdict. */
static void
begin_filters(struct str *s, const char **metrics, size_t n)
{
	static const char *const kinds[] = {
	    "changed", "worse", "better", "undecided"};
	char(*keys)[KEY] = mem_array(n + 1, sizeof *keys);
	const char **values = mem_array(n + 1, sizeof *values);
	struct str *titles = mem_array(n + 1, sizeof *titles);
	const char **texts = mem_array(n + 1, sizeof *texts);

	for (size_t i = 0; i < n; i++) {
		snprintf(keys[i], KEY, "m%zu", i);
		metric_write_label(&titles[i], metrics[i]);
		values[i] = keys[i];
		texts[i] = titles[i].s;
	}
	html_browse(s, PAGE, "Case",
	    (struct html_filter[]){
		{"kind", "Show", kinds, kinds, sizeof kinds / sizeof *kinds},
		{"metric", "Metric", values, texts, n}},
	    2);
	for (size_t i = 0; i < n; i++)
		str_free(&titles[i]);
	free(keys);
	free(values);
	free(titles);
	free(texts);
}

/* Returns the words by which the row is found. */
static const char *
describe_kind(const struct delta *d)
{
	switch (d->verdict) {
	case MODEL_REGRESSION:
	case MODEL_LIKELY_REGRESSION:
		return "changed worse";
	case MODEL_IMPROVEMENT:
	case MODEL_LIKELY_IMPROVEMENT:
		return "changed better";
	case MODEL_DIFFERENT:
	case MODEL_LIKELY_DIFFERENT:
		return "changed";
	case MODEL_INCONCLUSIVE:
	case MODEL_INSUFFICIENT:
		return "undecided";
	default:
		return "same";
	}
}

static void
write_needs(struct str *s, const struct delta *d)
{
	const char *reason = json_get_str(d->rec, "reason");
	double runs = json_num(json_path(d->rec, "needed.runs"), 0);
	double minutes = json_num(json_path(d->rec, "needed.minutes"), NAN);
	const struct json *n = json_get(d->rec, "n");
	double have =
	    fmin(json_num(json_at(n, 0), 0), json_num(json_at(n, 1), 0));

	if (reason)
		markup_printf(s, "; %s", reason);
	if (runs > 0 && !verdict_is_hopeless(runs, have, minutes))
		str_printf(s, "; needs %.0f runs", runs);
}

static void
write_notes(struct str *s, const struct delta *d)
{
	const struct json *j = json_first(json_get(d->rec, "notes"));
	const char *why = json_get_str(json_get(d->rec, "waiver"), "reason");

	str_add(s, "<span class=\"wide\">");
	if (d->waived)
		markup_printf(s, " waived: %s", why ? why : "no reason");
	if (!d->gate)
		str_add(s, " for information");
	write_needs(s, d);
	for (; j; j = json_next(j)) {
		str_add(s, "; ");
		html_value(s, j);
	}
	str_add(s, "</span>");
}

static void
write_row(struct str *s, const struct page *p, const struct forest *f,
    const struct delta *d, size_t metric)
{
	struct changetext text = model_changetext(d);
	double v[2];
	struct str t = {0};

	str_printf(s,
	    "<tr data-kind=\"%s\" data-metric=\"m%zu\"><th scope=\"row\">",
	    describe_kind(d), metric);
	page_case_link(s, d->kase);
	if (p->m->npairs > 1)
		markup_printf(
		    s, " <span class=\"quiet\">%s</span>", d->contender->name);
	str_add(s, "</th>");
	changetext_values(&text, v);
	html_number_cell(s, v[0]);
	html_number_cell(s, v[1]);
	forest_change(&t, d);
	str_printf(s, "<td class=\"n\" data-v=\"%.9g\">",
	    isnan(d->ratio) ? 0 : d->ratio - 1);
	markup_printf(s, "%s</td>", t.s);
	page_chart(s, f, d);
	str_printf(s, "<td data-v=\"%d\">", (int)d->verdict);
	page_badge(s, d, model_verdict_word(d->verdict));
	write_notes(s, d);
	str_add(s, "</td></tr>\n");
	str_free(&t);
}

/* Writes the results of one metric, at most 'most'. Returns how many. */
static size_t
write_metric(struct str *s, const struct page *p, const char *name, size_t at,
    size_t most)
{
	const struct model *m = p->m;
	const struct delta **v = mem_array(m->ndeltas + 1, sizeof *v);
	struct str title = {0};
	struct forest f;
	size_t n = 0;

	for (size_t i = 0; i < m->ndeltas && n < most; i++)
		if (strcmp(m->deltas[i].metric, name) == 0)
			v[n++] = &m->deltas[i];
	f = forest_new(v, n, name);

	figure_label(&title, name);
	markup_printf(s,
	    "<tbody><tr class=\"group\"><th scope=\"rowgroup\">%s</th><td></td>"
	    "<td></td><td></td>",
	    title.s);
	page_scale(s, &f);
	str_add(s, "<td></td></tr>\n");
	for (size_t i = 0; i < n; i++)
		write_row(s, p, &f, v[i], at);
	str_add(s, "</tbody>\n");
	str_free(&title);
	free(v);
	return n;
}

void
page_changes(struct str *s, const struct page *p)
{
	const struct model *m = p->m;
	size_t n, left = ROWS;
	const char **metrics = page_metrics(m, &n);

	if (m->ndeltas) {
		begin_filters(s, metrics, n);
		str_printf(s,
		    "<div class=\"scroll\" tabindex=\"0\" role=\"region\" "
		    "aria-label=\"All results\">\n<table id=\"rows\">\n"
		    "<caption>The medians of the baseline, and these changed "
		    "by the estimate; the change with its 95%% interval. "
		    "Changes within the shaded margin do not count");
		if (m->ndeltas > ROWS)
			str_printf(s, "; the first %d of %zu results", ROWS,
			    m->ndeltas);
		str_add(s,
		    ".</caption>\n<thead><tr><th scope=\"col\">case</th>"
		    "<th scope=\"col\" class=\"n\">baseline</th>"
		    "<th scope=\"col\" class=\"n\">contender</th>"
		    "<th scope=\"col\" class=\"n\">change</th>"
		    "<td class=\"chart\"></td>"
		    "<th scope=\"col\">result</th></tr></thead>\n");
		for (size_t i = 0; i < n && left; i++)
			left -= write_metric(s, p, metrics[i], i, left);
		str_add(s, "</table>\n</div>\n");
		html_browse_end(s);
	}
	free(metrics);
}
