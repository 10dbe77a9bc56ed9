#include "figure.h"
#include "html.h"
#include "json.h"
#include "model.h"
#include "page.h"
#include "scaling.h"
#include "str.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CELLS = 300, ROWS = 500 };

static void
write_notes(struct str *s, const struct json *one)
{
	size_t n = json_len(json_get(one, "outliers"));
	const char *sep = "";

	if (n) {
		str_printf(s, "%zu outlier%s", n, n == 1 ? "" : "s");
		sep = ", ";
	}
	if (json_get_bool(one, "drifting", false)) {
		str_printf(s, "%sdrifts %+.1f%%", sep,
		    json_get_num(one, "drift_percent", 0));
		sep = ", ";
	}
	if (json_get_bool(one, "bimodal", false)) {
		str_printf(s, "%stwo groups of runs", sep);
		sep = ", ";
	}
	if (json_get_str(one, "advice")) {
		str_add(s, sep);
		html_text(s, json_get_str(one, "advice"));
	}
}

static void
write_number(struct str *s, double v)
{
	str_add(s, "<td class=\"n\">");
	html_number(s, v);
	str_add(s, "</td>");
}

static void
write_interval(struct str *s, const struct json *pair)
{
	struct range ci = model_range(pair);

	str_add(s, pair ? "<td class=\"n\">[" : "<td class=\"n\">-</td>");
	if (!pair)
		return;
	html_number(s, ci.lo);
	str_add(s, ", ");
	html_number(s, ci.hi);
	str_add(s, "]</td>");
}

static void
begin_table(struct str *s, const char *what, size_t of, const char *columns,
    const char *const *names, size_t n)
{
	char label[80];

	snprintf(label, sizeof label, "%s %zu", what, of);
	html_table(s, label, NULL, columns, names, n);
}

static void
write_row(struct str *s, const struct page *p, const struct cell *c,
    const struct json *one)
{
	html_row(s, json_key(one));
	page_subject_cell(s, p, c->subject);
	write_number(s, json_get_num(one, "n", NAN));
	write_number(s, json_get_num(one, "median", NAN));
	write_interval(s, json_get(one, "ci95"));
	write_number(s, json_get_num(one, "cv_percent", NAN));
	write_number(s, json_get_num(one, "min", NAN));
	write_number(s, json_get_num(one, "max", NAN));
	str_add(s, "<td>");
	write_notes(s, one);
	str_add(s, "</td></tr>\n");
}

/* With many subjects, shows only the metrics that have a history plot. */
static bool
is_shown(const struct page *p, const struct kase *k, const char *metric)
{
	if (k->ncells <= MODEL_LOOKS)
		return true;
	for (size_t i = 0; i < p->figures->n; i++)
		if (p->figures->v[i].kase == k &&
		    p->figures->v[i].kind == FIGURE_HISTORY &&
		    strcmp(p->figures->v[i].metric, metric) == 0)
			return true;
	return false;
}

/* With many subjects, writes the last CELLS. */
static void
write_metrics(struct str *s, const struct page *p, const struct kase *k)
{
	size_t from = k->ncells > CELLS ? k->ncells - CELLS : 0, n;
	const char **names = figure_metrics(k, &n);

	begin_table(s, "Metrics of case", k->place + 1,
	    "metric|subject|>n|>median|>95% interval|>cv %|>min|>max|notes",
	    NULL, 0);
	for (size_t i = 0; i < n; i++)
		for (size_t b = from; b < k->ncells && is_shown(p, k, names[i]);
		     b++) {
			const struct json *one =
			    model_metric(k->cells[b], names[i]);

			if (one)
				write_row(s, p, k->cells[b], one);
		}
	free(names);
	html_table_end(s);
	if (from)
		str_printf(s, "<p>The last %d of %zu subjects.</p>\n", CELLS,
		    k->ncells);
}

/* Writes the metrics of all requests of all runs merged. */
static void
write_merged(struct str *s, const struct kase *k)
{
	const char *names[MODEL_LOOKS];
	const struct cell *c[MODEL_LOOKS];
	size_t n = figure_cells(k, c), with = 0;
	const struct json *j = NULL;

	for (size_t i = 0; i < n; i++)
		if (json_first(json_get(c[i]->rec, "whole")))
			c[with++] = c[i];
	if (!with)
		return;
	for (size_t i = 0; i < with; i++)
		names[i] = c[i]->subject->name;
	begin_table(s, "All requests of case", k->place + 1, "of all requests",
	    names, with);
	for (j = json_first(json_get(c[0]->rec, "whole")); j;
	     j = json_next(j)) {
		html_row(s, json_key(j));
		for (size_t i = 0; i < with; i++)
			write_number(s,
			    json_get_num(json_get(c[i]->rec, "whole"),
				json_key(j), NAN));
		str_add(s, "</tr>\n");
	}
	html_table_end(s);
}

static void
write_shift(struct str *s, const struct kase *k, const struct json *rec)
{
	const struct json *q = json_first(json_get(rec, "quantiles"));

	begin_table(s, "How the percentiles moved in case", k->place + 1,
	    ">percentile|>baseline|>contender|>ratio|>95% interval", NULL, 0);
	for (; q; q = json_next(q)) {
		str_add(s, "<tr>");
		write_number(s, json_get_num(q, "percentile", NAN));
		write_number(s, json_get_num(q, "baseline", NAN));
		write_number(s, json_get_num(q, "contender", NAN));
		write_number(s, json_get_num(q, "ratio", NAN));
		write_interval(s, json_get(q, "ci95"));
		str_add(s, "</tr>\n");
	}
	html_table_end(s);
}

void
page_numbers(struct str *s, const struct page *p, const struct kase *k)
{
	const struct figures *f = p->figures;

	if (!k->ncells)
		return;
	str_add(s, "<details class=\"numbers\"><summary>Numbers</summary>\n");
	write_metrics(s, p, k);
	write_merged(s, k);
	for (size_t i = 0; i < f->n; i++)
		if (f->v[i].kind == FIGURE_SHIFT && f->v[i].kase == k)
			write_shift(s, k, p->m->shifts.v[f->v[i].group]);
	str_add(s, "</details>\n");
}

static size_t
write_scaling_rows(struct str *s, const struct scaling_group *g)
{
	size_t rows = 0;

	for (size_t i = 0; i < g->n; i++)
		for (size_t k = 0; k < g->points[i].kase->ncells; k++) {
			const struct cell *c = g->points[i].kase->cells[k];
			const struct json *rps = model_metric(c, "rps");
			const struct json *p99 =
			    model_metric(c, "p99_latency_ms");

			html_row(s, g->name);
			html_tag(s, "td", NULL, g->key);
			write_number(s, g->points[i].x);
			html_tag(s, "td", NULL, c->subject->name);
			write_number(s, json_get_num(rps, "median", NAN));
			write_number(s, json_get_num(p99, "median", NAN));
			str_add(s, "</tr>\n");
			rows++;
		}
	return rows;
}

void
page_scaling_numbers(struct str *s, const struct page *p)
{
	const struct scaling *all = p->figures->scaling;
	size_t rows = 0, n = 0;

	str_add(s, "<details class=\"numbers\"><summary>Numbers</summary>\n");
	begin_table(s, "Scaling, curves", all->n,
	    "cases|by|>value|subject|>rps|>p99_latency_ms", NULL, 0);
	for (; n < all->n && rows < ROWS; n++)
		rows += write_scaling_rows(s, &all->v[n]);
	html_table_end(s);
	if (n < all->n)
		str_printf(
		    s, "<p>The first %zu of %zu curves.</p>\n", n, all->n);
	str_add(s, "</details>\n");
}
