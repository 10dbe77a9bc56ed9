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

/* Writes a number that has no unit: a count, a percentage, a ratio. */
static void
write_plain(struct str *s, double v, int digits)
{
	if (isnan(v))
		str_add(s, "<td class=\"n\">-</td>");
	else
		str_printf(s, "<td class=\"n\">%.*g</td>", digits, v);
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

/* Begins the row of a metric. */
static void
begin_row(struct str *s, const char *metric)
{
	struct str t = {0};

	figure_label(&t, metric);
	html_row(s, t.s);
	str_free(&t);
}

/* The columns of the metrics that are not empty. */
struct columns {
	bool any, ci, cv, range, notes;
};

static void
write_row(struct str *s, const struct page *p, const struct cell *c,
    const struct json *one, const struct columns *with)
{
	begin_row(s, json_key(one));
	page_subject_cell(s, p, c->subject);
	write_plain(s, json_get_num(one, "n", NAN), 12);
	html_number_cell(s, json_get_num(one, "median", NAN));
	if (with->ci)
		write_interval(s, json_get(one, "ci95"));
	if (with->cv)
		write_plain(s, json_get_num(one, "cv_percent", NAN), 2);
	if (with->range) {
		html_number_cell(s, json_get_num(one, "min", NAN));
		html_number_cell(s, json_get_num(one, "max", NAN));
	}
	if (with->notes) {
		str_add(s, "<td>");
		write_notes(s, one);
		str_add(s, "</td>");
	}
	str_add(s, "</tr>\n");
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

/* Finds the columns that a metric of one subject fills. */
static void
add_columns(struct columns *to, const struct json *one)
{
	struct str notes = {0};

	write_notes(&notes, one);
	to->any = true;
	to->ci |= json_get(one, "ci95") != NULL;
	to->cv |= json_get(one, "cv_percent") != NULL;
	to->range |= json_get(one, "min") != NULL;
	to->notes |= notes.len > 0;
	str_free(&notes);
}

static void
write_metric_rows(struct str *s, const struct page *p, const struct kase *k,
    const char **names, size_t n, struct columns *with, bool look)
{
	for (size_t i = 0; i < n; i++)
		for (size_t b = k->ncells > CELLS ? k->ncells - CELLS : 0;
		     b < k->ncells && is_shown(p, k, names[i]); b++) {
			const struct json *one =
			    model_metric(k->cells[b], names[i]);

			if (one && look)
				add_columns(with, one);
			else if (one)
				write_row(s, p, k->cells[b], one, with);
		}
}

/* With many subjects, writes the last CELLS. */
static void
write_metrics(struct str *s, const struct page *p, const struct kase *k)
{
	struct columns with = {0};
	struct str columns = {0};
	size_t n;
	const char **names = figure_metrics(k, &n);

	write_metric_rows(NULL, p, k, names, n, &with, true);
	if (!with.any) {
		free(names);
		return;
	}
	str_printf(&columns, "metric|subject|>n|>median%s%s%s%s",
	    with.ci ? "|>95% interval" : "", with.cv ? "|>cv %" : "",
	    with.range ? "|>min|>max" : "", with.notes ? "|notes" : "");
	begin_table(s, "Metrics of case", k->place + 1, columns.s, NULL, 0);
	write_metric_rows(s, p, k, names, n, &with, false);
	free(names);
	str_free(&columns);
	html_table_end(s);
	if (k->ncells > CELLS)
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
		begin_row(s, json_key(j));
		for (size_t i = 0; i < with; i++)
			html_number_cell(s,
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
		write_plain(s, json_get_num(q, "percentile", NAN), 12);
		html_number_cell(s, json_get_num(q, "baseline", NAN));
		html_number_cell(s, json_get_num(q, "contender", NAN));
		write_plain(s, json_get_num(q, "ratio", NAN), 4);
		write_interval(s, json_get(q, "ci95"));
		str_add(s, "</tr>\n");
	}
	html_table_end(s);
}

void
page_numbers(struct str *s, const struct page *p, const struct kase *k)
{
	const struct figures *f = p->figures;
	struct str t = {0};

	write_metrics(&t, p, k);
	write_merged(&t, k);
	for (size_t i = 0; i < f->n; i++)
		if (f->v[i].kind == FIGURE_SHIFT && f->v[i].kase == k)
			write_shift(&t, k, p->m->shifts.v[f->v[i].group]);
	if (t.len)
		str_printf(s,
		    "<details class=\"numbers\"><summary>Numbers</summary>\n"
		    "%s</details>\n",
		    t.s);
	str_free(&t);
}

/* The metrics of the curves; a column that no case has is left out. */
static const char *const scaled[] = {"rps", "p99_latency_ms"};
enum { SCALED = sizeof scaled / sizeof *scaled };

static size_t
write_scaling_rows(
    struct str *s, const struct scaling_group *g, const bool has[SCALED])
{
	size_t rows = 0;

	for (size_t i = 0; i < g->n; i++)
		for (size_t k = 0; k < g->points[i].kase->ncells; k++) {
			const struct cell *c = g->points[i].kase->cells[k];

			html_row(s, g->name);
			html_tag(s, "td", NULL, g->key);
			write_plain(s, g->points[i].x, 12);
			html_tag(s, "td", NULL, c->subject->name);
			for (size_t j = 0; j < SCALED; j++)
				if (has[j])
					html_number_cell(s,
					    json_get_num(
						model_metric(c, scaled[j]),
						"median", NAN));
			str_add(s, "</tr>\n");
			rows++;
		}
	return rows;
}

void
page_scaling_numbers(struct str *s, const struct page *p)
{
	const struct scaling *all = p->figures->scaling;
	struct str columns = {0};
	bool has[SCALED] = {false};
	size_t rows = 0, n = 0;

	str_add(&columns, "cases|by|>value|subject");
	for (size_t j = 0; j < SCALED; j++) {
		for (size_t i = 0; i < p->m->ncells; i++)
			has[j] |=
			    model_metric(&p->m->cells[i], scaled[j]) != NULL;
		if (!has[j])
			continue;
		str_add(&columns, "|>");
		figure_label(&columns, scaled[j]);
	}
	str_add(s, "<details class=\"numbers\"><summary>Numbers</summary>\n");
	begin_table(s, "Scaling, curves", all->n, columns.s, NULL, 0);
	for (; n < all->n && rows < ROWS; n++)
		rows += write_scaling_rows(s, &all->v[n], has);
	html_table_end(s);
	if (n < all->n)
		str_printf(
		    s, "<p>The first %zu of %zu curves.</p>\n", n, all->n);
	str_add(s, "</details>\n");
	str_free(&columns);
}
