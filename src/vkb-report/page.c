#include "page.h"
#include "asset.h"
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
#include "num.h"
#include "opt.h"
#include "plot.h"
#include "record.h"
#include "str.h"
#include "vkb-compare/brief.h"
#include "vkb-compare/judge.h"
#include "vkb-compare/part.h"
#include "vkb-compare/report.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	CASES = 100, /* shown in detail */
	FEW = 12     /* cases: of more, details are folded at first */
};

/* Appends an answer: of a case, or of one row. */
static void
write_badge(struct str *s, const struct brief_case *b)
{
	const struct row *r = b->worst;
	struct str answer = {0};

	if (b->first)
		brief_write_answer(&answer, b);
	else
		str_add(&answer, brief_answer(b));
	markup_printf(s, "<span class=\"badge %s\">%s</span>",
	    !r              ? "none"
		: r->waived ? "waived"
			    : verdict_name(r->verdict),
	    answer.s);
	str_free(&answer);
}

/* Appends the answer of a case, as the first table has it. */
static void
write_case_answer(struct str *s, const struct model_result *result)
{
	struct brief b = brief_collect(result->pair->c);

	for (size_t i = 0; i < b.n; i++)
		if (b.v[i].pair == result->row->pair)
			write_badge(s, &b.v[i]);
	free(b.v);
}

/* Links only to the URL of the caller, since a record could name any host. */
static void
write_subject(
    struct str *s, const struct page *p, const struct subject *subject)
{
	const char *commit = record_subject_commit(subject->json);

	if (p->commit_url && record_is_id(commit))
		markup_printf(s, "<a rel=\"noreferrer\" href=\"%s%s\">%s</a>",
		    p->commit_url, commit, subject->name);
	else
		markup_xml(s, subject->name);
}

static void
write_subject_cell(
    struct str *s, const struct page *p, const struct subject *subject)
{
	str_add(s, "<td>");
	write_subject(s, p, subject);
	str_add(s, "</td>");
}

enum { CELLS = 300 }; /* rows of one metric */

static void
write_number_notes(struct str *s, const struct json *one)
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
		markup_xml(s, json_get_str(one, "advice"));
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

/* Writes nothing of an interval that is not known. */
static void
write_interval(struct str *s, double lo, double hi)
{
	str_add(s, isnan(lo) ? "<td class=\"n\">-</td>" : "<td class=\"n\">[");
	if (isnan(lo))
		return;
	html_number(s, lo);
	str_add(s, ", ");
	html_number(s, hi);
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
write_number_row(struct str *s, const struct page *p, const struct cell *c,
    const struct json *one, const struct columns *with)
{
	struct range ci = model_range(json_get(one, "ci95"));

	begin_row(s, json_key(one));
	write_subject_cell(s, p, c->subject);
	write_plain(s, json_get_num(one, "n", NAN), 12);
	html_number_cell(s, json_get_num(one, "median", NAN));
	if (with->ci)
		write_interval(s, ci.lo, ci.hi);
	if (with->cv)
		write_plain(s, json_get_num(one, "cv_percent", NAN), 2);
	if (with->range) {
		html_number_cell(s, json_get_num(one, "min", NAN));
		html_number_cell(s, json_get_num(one, "max", NAN));
	}
	if (with->notes) {
		str_add(s, "<td>");
		write_number_notes(s, one);
		str_add(s, "</td>");
	}
	str_add(s, "</tr>\n");
}

/* With many subjects, shows only the metrics that have a history plot. */
static bool
is_shown(const struct page *p, const struct model_case *k, const char *metric)
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

	write_number_notes(&notes, one);
	to->any = true;
	to->ci |= json_get(one, "ci95") != NULL;
	to->cv |= json_get(one, "cv_percent") != NULL;
	to->range |= json_get(one, "min") != NULL;
	to->notes |= notes.len > 0;
	str_free(&notes);
}

static void
write_metric_rows(struct str *s, const struct page *p,
    const struct model_case *k, const char **names, size_t n,
    struct columns *with, bool look)
{
	for (size_t i = 0; i < n; i++)
		for (size_t b = k->ncells > CELLS ? k->ncells - CELLS : 0;
		     b < k->ncells && is_shown(p, k, names[i]); b++) {
			const struct json *one =
			    model_metric(k->cells[b], names[i]);

			if (one && look)
				add_columns(with, one);
			else if (one)
				write_number_row(s, p, k->cells[b], one, with);
		}
}

/* With many subjects, writes the last CELLS. */
static void
write_metrics(struct str *s, const struct page *p, const struct model_case *k)
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
write_merged(struct str *s, const struct model_case *k)
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
write_shift(
    struct str *s, const struct model_case *k, const struct shift *shift)
{
	begin_table(s, "How the percentiles moved in case", k->place + 1,
	    ">percentile|>baseline|>contender|>ratio|>95% interval", NULL, 0);
	for (size_t i = 0; i < shift->n; i++) {
		const struct shift_line *l = &shift->v[i];

		str_add(s, "<tr>");
		write_plain(s, l->percentile, 12);
		html_number_cell(s, l->value[0]);
		html_number_cell(s, l->value[1]);
		write_plain(s, l->ratio, 4);
		write_interval(s, l->lo, l->hi);
		str_add(s, "</tr>\n");
	}
	html_table_end(s);
}

/* Tables of the numbers behind the plots. */
static void
write_numbers(struct str *s, const struct page *p, const struct model_case *k)
{
	const struct figures *f = p->figures;
	struct str t = {0};

	write_metrics(&t, p, k);
	write_merged(&t, k);
	for (size_t i = 0; i < f->n; i++)
		if (f->v[i].kind == FIGURE_SHIFT && f->v[i].kase == k)
			write_shift(&t, k, f->v[i].shift);
	if (t.len)
		str_printf(s,
		    "<details class=\"numbers\"><summary>Numbers</summary>\n"
		    "%s</details>\n",
		    t.s);
	str_free(&t);
}

enum { OPEN = 2, SCALINGS = 40 };

/* Adds the change that a comparison found to the runs of a metric. */
static void
write_changes(struct str *s, const struct figure *f)
{
	for (size_t i = 0; f->kind == FIGURE_RUNS && i < f->kase->nresults;
	     i++) {
		const struct row *r = f->kase->results[i]->row;
		struct str t = {0};

		if (strcmp(r->name, f->metric) != 0)
			continue;
		report_change(&t, r);
		markup_printf(s, "; %s%s", t.s,
		    r->facts.paired ? " between the runs of a round" : "");
		str_free(&t);
	}
}

static void
write_figure(struct str *s, const struct page *p, const struct figure *f)
{
	markup_printf(
	    s, "<figure>\n<figcaption>%s", f->brief ? f->brief : f->title);
	write_changes(s, f);
	str_add(s, "</figcaption>\n");
	figure_draw(s, p->figures, f, false);
	str_add(s, "\n</figure>\n");
}

/* Appends the name of a case, with a link if it is shown in detail. */
static void
write_case_link(struct str *s, const struct model_case *k)
{
	if (k->place < CASES && k->ncells)
		markup_printf(
		    s, "<a href=\"#case-%zu\">%s</a>", k->place + 1, k->name);
	else
		markup_xml(s, k->name);
}

/* Writes figures and numbers of a case; nothing if it has none. */
static void
write_case(struct str *s, const struct page *p, const struct model_case *k)
{
	struct str figures = {0}, numbers = {0};

	for (size_t f = 0; f < p->figures->n; f++)
		if (p->figures->v[f].kase == k)
			write_figure(&figures, p, &p->figures->v[f]);
	write_numbers(&numbers, p, k);
	if (figures.len || numbers.len) {
		markup_printf(s,
		    "<details class=\"case\" id=\"case-%zu\"%s>\n<summary><h3>"
		    "%s</h3>",
		    k->place + 1, k->place < OPEN ? " open" : "", k->name);
		str_addc(s, ' ');
		if (k->nresults)
			write_case_answer(s, k->results[0]);
		str_add(s, "</summary>\n");
	}
	if (figures.len)
		str_printf(s, "<div class=\"figures\">\n%s</div>\n", figures.s);
	if (figures.len || numbers.len)
		str_printf(s, "%s</details>\n", numbers.len ? numbers.s : "");
	str_free(&figures);
	str_free(&numbers);
}

static void
write_cases(struct str *s, const struct page *p)
{
	const struct model *m = p->m;
	size_t n = m->ncases < CASES ? m->ncases : CASES;
	struct str t = {0};

	for (size_t i = 0; i < n; i++)
		write_case(&t, p, m->order[i]);
	if (!t.len)
		return;
	str_add(s,
	    "<p class=\"quiet\">Dots are runs: all of a side in a row, and "
	    "below in the order they were made. Lines are medians, shaded "
	    "areas 95% intervals; in plots of percentiles, shaded areas are "
	    "the range of single runs. The value axes do not begin at 0.");
	if (n < m->ncases)
		str_printf(s, " The %zu most notable of %zu cases are shown.",
		    n, m->ncases);
	str_add(s, "</p>\n");
	str_addn(s, t.s, t.len);
	str_free(&t);
}

static void
write_scaling(struct str *s, const struct page *p)
{
	size_t shown = 0, all = 0;

	for (size_t i = 0; i < p->figures->n; i++)
		all += p->figures->v[i].kind == FIGURE_SCALING;
	if (!all)
		return;
	str_add(s,
	    "<p class=\"quiet\">Medians with 95% intervals, of cases that "
	    "differ in one number only.");
	if (all > SCALINGS)
		str_printf(s, " The first %d of %zu.", SCALINGS, all);
	str_add(s, "</p>\n<div class=\"figures\">\n");
	for (size_t i = 0; i < p->figures->n && shown < SCALINGS; i++)
		if (p->figures->v[i].kind == FIGURE_SCALING) {
			write_figure(s, p, &p->figures->v[i]);
			shown++;
		}
	str_add(s, "</div>\n");
}

enum { ERRORS = 5, FAILED_ROWS = 500 };

static void
write_errors(struct str *s, const struct json *all)
{
	const struct json *j = json_first(all);

	str_add(s, "<td>");
	for (size_t i = 0; j && i < ERRORS; i++, j = json_next(j)) {
		struct str t = {0};

		str_add(s, i ? "<br>" : "");
		record_add_error(&t, json_str(j) ? json_str(j) : "");
		markup_xml(s, t.s ? t.s : "");
		str_free(&t);
	}
	if (j)
		str_printf(s, "<br>and %zu more", json_len(all) - ERRORS);
	str_add(s, "</td>");
}

static void
write_failed_cell(struct str *s, const struct page *p, const struct cell *c)
{
	html_row(s, c->kase->name);
	write_subject_cell(s, p, c->subject);
	str_printf(s, "<td class=\"n\">%.0f of %.0f</td>",
	    json_get_num(c->rec, "failed", 0),
	    json_get_num(c->rec, "failed", 0) + json_get_num(c->rec, "n", 0));
	write_errors(s, json_get(c->rec, "errors"));
	str_add(s, "</tr>\n");
}

/* Writes the cases that a comparison found on one side only. */
static void
write_unmatched(struct str *s, const struct page *p, const struct pair *pair)
{
	static const char about[] = "Cases on one side only";
	const struct comparison *c = pair->c;
	size_t n = 0;

	for (size_t i = 0; i < c->npairs; i++) {
		const struct kase *k = c->pairs[i].side[0];
		const char *side = json_get_str(k->parts->rest, "side");
		bool contender = side && strcmp(side, "contender") == 0;

		if (!side || cases_sum(k, "failed") > 0)
			continue;
		if (!n++)
			html_table(s, about, about, "case|subject|>runs|side",
			    NULL, 0);
		html_row(s, c->pairs[i].name[0]);
		write_subject_cell(
		    s, p, contender ? pair->contender : pair->base);
		str_printf(s, "<td class=\"n\">%.0f</td>", cases_sum(k, "n"));
		html_tag(s, "td", NULL, contender ? "contender" : "baseline");
		str_add(s, "</tr>\n");
	}
	if (n)
		html_table_end(s);
}

static void
write_failed(struct str *s, const struct page *p)
{
	static const char about[] = "Failed runs, not included above";
	const struct model *m = p->m;
	size_t n = 0;

	for (size_t i = 0; i < m->ncases; i++)
		for (size_t k = 0; k < m->order[i]->ncells; k++) {
			const struct cell *c = m->order[i]->cells[k];

			if (!(json_get_num(c->rec, "failed", 0) > 0))
				continue;
			if (!n++)
				html_table(s, about, about,
				    "case|subject|>failed|why", NULL, 0);
			if (n <= FAILED_ROWS)
				write_failed_cell(s, p, c);
		}
	if (n)
		html_table_end(s);
	if (n > FAILED_ROWS)
		str_printf(s, "<p>and %zu more</p>\n", n - FAILED_ROWS);
	for (size_t i = 0; i < m->npairs; i++)
		write_unmatched(s, p, &m->pairs[i]);
}

/* --- The first table of a page without a comparison: the medians of each case.
 */

enum { PAGE = 20 }; /* rows that are shown at once */

static const char *const result_metrics[] = {
    "rps", "capacity_rps", "p50_latency_ms", "p99_latency_ms"};
enum { METRICS = sizeof result_metrics / sizeof *result_metrics };

/* Writes a median, and its interval below it. */
static void
write_median(struct str *s, const struct json *one)
{
	struct range ci = model_range(json_get(one, "ci95"));
	double median = json_get_num(one, "median", NAN);

	str_printf(
	    s, "<td class=\"n\" data-v=\"%.9g\">", isnan(median) ? 0 : median);
	html_number(s, median);
	if (isfinite(ci.lo)) {
		str_add(s, "<br><span class=\"quiet\">[");
		html_number(s, ci.lo);
		str_add(s, ", ");
		html_number(s, ci.hi);
		str_add(s, "]</span>");
	}
	str_add(s, "</td>");
}

static void
write_result_row(struct str *s, const struct page *p, const struct cell *c,
    const bool has[METRICS])
{
	double runs = 0; /* without those that are only counted */

	str_add(s, "<tr><th scope=\"row\">");
	write_case_link(s, c->kase);
	str_add(s, "</th>");
	if (p->m->nsubjects > 1)
		write_subject_cell(s, p, c->subject);
	for (size_t i = 0; i < METRICS; i++) {
		const struct json *one = model_metric(c, result_metrics[i]);

		if (has[i])
			write_median(s, one);
		runs = fmax(runs, json_get_num(one, "n", 0));
	}
	str_printf(s, "<td class=\"n\">%.0f</td></tr>\n", runs);
}

/* The medians of all cases, where nothing was compared. */
static void
write_results(struct str *s, const struct page *p)
{
	const struct model *m = p->m;
	bool has[METRICS] = {false}, any = false;
	struct str columns = {0};

	if (m->npairs || m->nchanges || m->nsubjects > MODEL_LOOKS)
		return;
	for (size_t k = 0; k < m->ncells; k++)
		for (size_t i = 0; i < METRICS; i++)
			has[i] |= model_metric(
				      &m->cells[k], result_metrics[i]) != NULL;
	for (size_t i = 0; i < METRICS; i++)
		any |= has[i];
	if (!any)
		return;
	str_add(&columns, m->nsubjects > 1 ? "case|subject" : "case");
	for (size_t i = 0; i < METRICS; i++)
		if (has[i]) {
			str_add(&columns, "|>");
			figure_label(&columns, result_metrics[i]);
		}
	str_add(&columns, "|>runs");
	html_browse(s, PAGE, NULL, NULL, 0);
	html_table(s, "Medians", "Medians, and their 95% intervals.", columns.s,
	    NULL, 0);
	for (size_t i = 0; i < m->ncases; i++)
		for (size_t k = 0; k < m->order[i]->ncells; k++)
			write_result_row(s, p, m->order[i]->cells[k], has);
	html_table_end(s);
	html_browse_end(s);
	str_free(&columns);
}

static void
write_change_row(struct str *s, const struct page *p, const struct change *c)
{
	const struct model_case *k = c->kase;
	const struct json *rec = c->rec;
	struct str range = {0}, metric = {0};

	str_add(s, "<tr><th scope=\"row\">");
	write_case_link(s, k);
	str_add(s, "</th>");
	metric_write_label(&metric, c->text.metric);
	html_tag(s, "td", NULL, metric.s);
	str_free(&metric);
	write_subject_cell(s, p, c->subject);
	changetext_range(&range, rec);
	html_tag(s, "td", NULL, range.len ? range.s : "-");
	str_free(&range);
	str_add(s, "<td class=\"n\">");
	changetext_interval(s, &c->text);
	markup_printf(s, "</td><td><span class=\"badge %s\">%s%s</span>",
	    c->class, c->slow, c->way);
	if (json_get_bool(rec, "new", false))
		str_add(s, ", new");
	if (json_get(rec, "waiver"))
		str_add(s, ", waived");
	str_add(s, "</td></tr>\n");
}

/* Writes a table of the changes; the plots are in the sections of the cases. */
static void
write_history(struct str *s, const struct page *p)
{
	const struct model *m = p->m;

	if (!m->nchanges)
		return;
	html_table(s, "Changes in the history",
	    "Changes in the level of a metric; each is plotted in the section "
	    "of its case.",
	    "case|metric|since|range of commits|>change|kind", NULL, 0);
	for (size_t i = 0; i < m->nchanges; i++)
		write_change_row(s, p, &m->changes[i]);
	html_table_end(s);
}

enum { SUBJECTS = 6 };

/* The values of one property over all cases of a subject. */
struct property {
	const struct json *first;
	size_t n; /* above 1: the cases have different values */
};

static void
add_value(struct property *v, const struct json *j)
{
	if (!v->n++)
		v->first = j;
	else if (json_equal(v->first, j))
		v->n--;
}

/* Returns the values by key and index of the subject; the caller frees it. */
static struct property *
collect_values(const struct model *m, struct intern *keys, size_t width)
{
	const struct json *j;
	struct property *all;

	for (size_t i = 0; i < m->ncells; i++)
		for (j = json_first(json_get(m->cells[i].rec, "env")); j;
		     j = json_next(j))
			intern_id(keys, json_key(j));
	all = mem_array(intern_count(keys) * width + 1, sizeof *all);
	for (size_t i = 0; i < m->ncells; i++) {
		size_t place = m->cells[i].subject->place;

		j = json_first(json_get(m->cells[i].rec, "env"));
		for (; j && place < width; j = json_next(j))
			add_value(
			    &all[intern_id(keys, json_key(j)) * width + place],
			    j);
	}
	return all;
}

static bool
row_differs(const struct property *row, size_t n)
{
	const struct json *first = NULL;

	for (size_t i = 0; i < n; i++)
		if (row[i].n > 1)
			return true;
		else if (row[i].n && !first)
			first = row[i].first;
		else if (row[i].n && !json_equal(row[i].first, first))
			return true;
	return false;
}

static void
write_properties(struct str *s, const struct page *p, const struct intern *keys,
    const struct property *all, size_t width)
{
	const char *names[SUBJECTS];
	const struct model *m = p->m;

	for (size_t i = 0; i < width; i++)
		names[i] = m->ordered[i]->name;
	html_table(
	    s, "The machine of each subject", NULL, "property", names, width);
	for (size_t k = 0; k < intern_count(keys); k++) {
		const struct property *row = &all[k * width];
		bool other = row_differs(row, width);

		markup_printf(s,
		    other ? "<tr class=\"differs\"><th scope=\"row\">%s"
			  : "<tr><th scope=\"row\">%s",
		    intern_text(keys, k));
		if (other)
			str_add(s,
			    " <span class=\"badge inconclusive\">differs"
			    "</span>");
		str_add(s, "</th>");
		for (size_t i = 0; i < width; i++) {
			str_add(s, "<td>");
			if (row[i].n > 1)
				str_add(s, "several values");
			else
				html_value(s, row[i].first);
			str_add(s, "</td>");
		}
		str_add(s, "</tr>\n");
	}
	html_table_end(s);
	if (m->nsubjects > width)
		str_printf(s,
		    "<p>The first %zu of %zu subjects are shown.</p>\n", width,
		    m->nsubjects);
}

static void
write_difference(struct str *s, const struct json *j)
{
	static const char *const keys[] = {"baseline", "contender", "cases"};

	html_row(s, json_get_str(j, "name") ? json_get_str(j, "name") : "-");
	for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
		str_add(s, "<td>");
		html_value(s, json_get(j, keys[i]));
		str_add(s, "</td>");
	}
	str_add(s, "</tr>\n");
}

/* Writes what a comparison found to differ between its sides. */
static void
write_differences(struct str *s, const struct pair *p)
{
	const struct json *j = json_first(json_get(p->c->record, "env"));
	struct str t = {0};

	if (!j)
		return;
	str_printf(&t, "What differs between %s and %s", p->base->name,
	    p->contender->name);
	html_table(s, t.s, t.s, "property|baseline|contender|cases", NULL, 0);
	for (; j; j = json_next(j))
		write_difference(s, j);
	html_table_end(s);
	str_free(&t);
}

/* Writes one env record: the state of a machine at one time. */
static void
write_machine_state(struct str *s, const struct json *rec)
{
	markup_printf(s, "<details><summary>%s", json_get_str(rec, "time"));
	if (json_get_str(rec, "session"))
		markup_printf(s, ", session %s", json_get_str(rec, "session"));
	str_add(s, "</summary>\n<dl class=\"list\">\n");
	html_members(s, json_get(rec, "env"));
	html_members(s, json_get(rec, "now"));
	str_add(s, "</dl></details>\n");
}

static void
write_environment(struct str *s, const struct page *p)
{
	const struct model *m = p->m;
	size_t width = m->nsubjects < SUBJECTS ? m->nsubjects : SUBJECTS;
	struct intern *keys = intern_new();
	struct property *all = collect_values(m, keys, width);

	if (intern_count(keys) && width)
		write_properties(s, p, keys, all, width);
	for (size_t i = 0; i < m->npairs; i++)
		write_differences(s, &m->pairs[i]);
	if (m->envs.n)
		str_add(s, "<h3>Recorded machine states</h3>\n");
	for (size_t i = 0; i < m->envs.n && i < 100; i++)
		write_machine_state(s, m->envs.v[i]);
	if (m->envs.n > 100)
		str_printf(s, "<p>and %zu more</p>\n", m->envs.n - 100);
	free(all);
	intern_free(keys);
}

/* Limits in bytes, of one graph and of all: browsers must open the page. */
enum { GRAPH = 4 * 1048576, GRAPHS = 24 * 1048576 };

enum { BAR = 90 }; /* pixels of what the script adds above a graph */

/* Reads regular files only: the path comes from a record and is not trusted.
 * Returns 0, or -1 with the reason in *why. */
static int
read_graph(struct str *to, const char *path, const char **why)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat st;

	*why = NULL;
	if (fd < 0 || fstat(fd, &st) < 0)
		*why = strerror(errno);
	else if (!S_ISREG(st.st_mode))
		*why = strerror(EINVAL);
	else if (st.st_size > GRAPH)
		*why = "it is too large";
	else if (!st.st_size || str_read(to, fd) < 0 ||
	    memchr(to->s, 0, to->len) || !str_utf8(to->s, to->len) ||
	    !strstr(to->s, "<svg"))
		*why = "it is not an SVG file";
	if (fd >= 0)
		close(fd);
	return *why ? -1 : 0;
}

/*
 * Embeds the graph in a sandbox without network and without access to the page.
 * The policy of the page allows the script of vkb-flame there, and no other
 * one. Page.js keeps the state of the graph in the URL.
 */
static void
write_iframe(
    struct str *s, const struct str *graph, const char *title, size_t number)
{
	const char *at = strstr(graph->s, " height=\"");
	double height = at ? strtod(at + 9, NULL) : 0;

	markup_printf(s,
	    "<iframe id=\"flame-%zu\" sandbox=\"allow-scripts\" "
	    "loading=\"lazy\" height=\"%.0f\" title=\"%s\" srcdoc=\"",
	    number, fmax(200, fmin(800, height + BAR)), title);
	for (size_t i = 0; i < graph->len; i++)
		if (graph->s[i] == '"')
			str_add(s, "&quot;");
		else if (graph->s[i] == '<')
			str_add(s, "&lt;");
		else if (graph->s[i] == '&')
			str_add(s, "&amp;");
		else
			str_addc(s, graph->s[i]);
	str_add(s, "\"></iframe>\n");
}

static void
format_profile_name(
    struct str *t, const struct model *m, const struct json *rec)
{
	const char *kind = json_get_str(rec, "mode");
	const char *comm = json_get_str(json_get(rec, "target"), "comm");

	str_printf(t, "%s of ", kind ? kind : "counts");
	if (json_get(rec, "config"))
		str_add(t, model_case(m, json_get(rec, "config"))->name);
	else if (json_get_str(rec, "case"))
		str_add(t, json_get_str(rec, "case"));
	else
		str_add(t, comm ? comm : "a process");
	if (json_get(rec, "subject"))
		str_printf(t, ", %s",
		    model_subject(m, json_get(rec, "subject"))->name);
}

/* What the page has of graphs so far. */
struct embedded {
	size_t n, bytes;
};

static void
write_graph(
    struct str *s, const char *path, const char *title, struct embedded *sum)
{
	struct str g = {0};
	const char *why = "the page already has 24 MB of graphs";
	bool own = false;

	if (sum->bytes < GRAPHS && read_graph(&g, path, &why) == 0) {
		sum->bytes += g.len;
		write_iframe(s, &g, title, ++sum->n);
		own = strstr(g.s, html_flame_script());
		why = NULL;
	}
	if (why)
		markup_printf(s, "<p class=\"quiet\">%s is not shown: %s</p>\n",
		    path, why);
	else
		markup_printf(s, "<p class=\"quiet\">%s%s</p>\n", path,
		    own ? ""
			: ": made by another version of vkb-flame; open the "
			  "file itself to search and zoom.");
	str_free(&g);
}

static void
write_profile(struct str *s, const struct model *m, const struct json *rec,
    struct embedded *sum)
{
	const char *svg = json_get_str(json_get(rec, "artifacts"), "svg");
	bool numbers = json_first(json_get(rec, "per_req")) ||
	    json_first(json_get(rec, "derived"));
	struct str t = {0};

	if (!svg && !numbers && !json_get_str(rec, "error"))
		return;
	format_profile_name(&t, m, rec);
	html_tag(s, "h3", NULL, t.s);
	if (json_get_str(rec, "error"))
		markup_printf(s,
		    "<p><span class=\"badge regression\">failed</span> %s</p>"
		    "\n",
		    json_get_str(rec, "error"));
	if (svg)
		write_graph(s, svg, t.s, sum);
	if (numbers) {
		str_add(s, "<dl class=\"list\">\n");
		html_members(s, json_get(rec, "per_req"));
		html_members(s, json_get(rec, "derived"));
		str_add(s, "</dl>\n");
	}
	str_free(&t);
}

static void
write_profiles(struct str *s, const struct page *p)
{
	struct embedded sum = {0};

	for (size_t i = 0; i < p->m->profiles.n; i++)
		write_profile(s, p->m, p->m->profiles.v[i], &sum);
}

/* --- The table of all results of comparisons, metric by metric. */

enum { ROWS = 10000, ALL_PAGE = 100, KEY = 24 };

/* Appends the cell of the chart of a row. */
static void
write_chart(struct str *s, const struct forest *f, const struct row *r)
{
	str_printf(s,
	    "<td class=\"chart\"><svg class=\"plot\" viewBox=\"0 0 %d %d\" "
	    "aria-hidden=\"true\">",
	    FOREST_WIDTH, FOREST_HEIGHT);
	forest_row(s, f, r, 0, FOREST_HEIGHT / 2.);
	str_add(s, "</svg></td>");
}

/* Begins the rows of a metric by its name and the scale of its charts, between
 * the empty cells before and behind it. */
static void
begin_group(struct str *s, const char *metric, const struct forest *f,
    const char *before, const char *behind)
{
	struct str title = {0};
	char lo[32], hi[32];

	figure_label(&title, metric);
	forest_ends(f, lo, hi);
	markup_printf(s,
	    "<tbody><tr class=\"group\"><th scope=\"rowgroup\" colspan=\"2\">"
	    "%s</th>",
	    title.s);
	str_printf(s,
	    "%s<td class=\"chart\"><span class=\"ends\"><span>%s</span>"
	    "<span>%s</span></span></td>%s<td></td></tr>\n",
	    before, lo, hi, behind);
	str_free(&title);
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
	html_browse(s, ALL_PAGE, "Case",
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
describe_kind(const struct row *r)
{
	switch (r->verdict) {
	case VERDICT_REGRESSION:
	case VERDICT_LIKELY_REGRESSION:
		return "changed worse";
	case VERDICT_IMPROVEMENT:
	case VERDICT_LIKELY_IMPROVEMENT:
		return "changed better";
	case VERDICT_DIFFERENT:
	case VERDICT_LIKELY_DIFFERENT:
		return "changed";
	case VERDICT_INCONCLUSIVE:
	case VERDICT_INSUFFICIENT:
		return "undecided";
	default:
		return "same";
	}
}

static void
write_row_notes(struct str *s, const struct row *r)
{
	struct str notes = {0};

	str_add(s, "<span class=\"wide\">");
	if (r->waived)
		markup_printf(s, " waived: %s", r->waiver.reason);
	if (!r->gate)
		str_add(s, " for information");
	if (r->reason)
		markup_printf(s, "; %s", r->reason);
	if (r->needed && !report_is_hopeless(r))
		str_printf(s, "; needs %zu runs", r->needed);
	if (!r->noise)
		report_notes(&notes, r);
	if (notes.len)
		markup_printf(s, "; %s", notes.s);
	str_add(s, "</span>");
	str_free(&notes);
}

static void
write_result(struct str *s, const struct page *p, const struct forest *f,
    const struct model_result *d, size_t metric)
{
	const struct row *r = d->row;
	double v[2];
	struct str t = {0};

	str_printf(s,
	    "<tr data-kind=\"%s\" data-metric=\"m%zu\"><th scope=\"row\">",
	    describe_kind(r), metric);
	write_case_link(s, d->kase);
	if (p->m->npairs > 1)
		markup_printf(s, " <span class=\"quiet\">%s</span>",
		    d->pair->contender->name);
	str_add(s, "</th>");
	report_values(r, v);
	html_number_cell(s, v[0]);
	html_number_cell(s, v[1]);
	report_change(&t, r);
	str_printf(s, "<td class=\"n\" data-v=\"%.9g\">",
	    isnan(r->facts.ratio) ? 0 : r->facts.ratio - 1);
	markup_printf(s, "%s</td>", t.s);
	write_chart(s, f, r);
	str_printf(s, "<td data-v=\"%d\">", (int)verdict_rank(r->verdict));
	write_badge(s, &(struct brief_case){.worst = r});
	write_row_notes(s, r);
	str_add(s, "</td></tr>\n");
	str_free(&t);
}

/* Writes the results of one metric, at most 'most'. Returns how many. */
static size_t
write_metric(struct str *s, const struct page *p, const char *name, size_t at,
    size_t most)
{
	const struct model *m = p->m;
	const struct model_result **v = mem_array(m->nresults + 1, sizeof *v);
	const struct row **rows = mem_array(m->nresults + 1, sizeof *rows);
	struct forest f;
	size_t n = 0;

	for (size_t i = 0; i < m->nresults && n < most; i++)
		if (strcmp(m->results[i].row->name, name) == 0) {
			v[n] = &m->results[i];
			rows[n++] = m->results[i].row;
		}
	f = forest_new(rows, n, name);
	begin_group(s, name, &f, "<td></td><td></td>", "");
	for (size_t i = 0; i < n; i++)
		write_result(s, p, &f, v[i], at);
	str_add(s, "</tbody>\n");
	free(rows);
	free(v);
	return n;
}

static void
write_all_changes(struct str *s, const struct page *p)
{
	const struct model *m = p->m;
	size_t n, left = ROWS;
	const char **metrics = model_compared(m, &n);

	if (m->nresults) {
		begin_filters(s, metrics, n);
		str_printf(s,
		    "<div class=\"scroll\" tabindex=\"0\" role=\"region\" "
		    "aria-label=\"All results\">\n<table id=\"rows\">\n"
		    "<caption>The medians of the baseline, and these changed "
		    "by the estimate; the change with its 95%% interval. "
		    "Changes within the shaded margin do not count");
		if (m->nresults > ROWS)
			str_printf(s, "; the first %d of %zu results", ROWS,
			    m->nresults);
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

/* --- The verdict in words for each pair of subjects that was compared, as
 * vkb-compare wrote it into the record of the comparison. */

struct sentences {
	char **v;
	size_t n, cap;
};

struct headline {
	const struct pair *pair; /* NULL: nothing was compared */
	enum verdict outcome;    /* VERDICTS: nothing was judged */
	char *caution;           /* what limits all results, or NULL */
	char *what;              /* "Worse: SET (8.1% slower)." */
	const char *next;        /* a command that says more, or NULL */
	struct sentences facts;
};

enum { TOGETHER = 10 }; /* cases whose counts and times have a sentence */

/* Takes the text. */
static void
add_sentence(struct sentences *l, char *text)
{
	*MEM_ADD(l->v, l->n, l->cap) = text;
}

/* Adds the sentences about count and time of the first cases that changed. */
static void
describe_together(struct headline *h, const struct brief *b)
{
	size_t n = 0;

	for (size_t i = 0; i < b->n && brief_is_change(&b->v[i]); i++) {
		const char *text = b->v[i].pair->together;

		if (text && *text && !strstr(h->what, text) && n++ < TOGETHER)
			add_sentence(&h->facts, mem_printf("%s.", text));
	}
	if (n > TOGETHER)
		add_sentence(&h->facts,
		    mem_printf(
			"%zu more case%s: see the notes of their results.",
			n - TOGETHER, num_plural((double)(n - TOGETHER))));
}

static void
describe_pair(struct headline *h, const struct pair *p, const struct brief *b)
{
	const struct comparison *c = p->c;
	const char *outlook = json_get_str(c->record, "outlook");
	struct str s = {0};

	*h = (struct headline){.pair = p,
	    .outcome = report_find_canary(c) ? VERDICT_INSUFFICIENT
		: b->n && b->v[0].worst      ? b->v[0].worst->verdict
					     : verdict_foremost(c->count),
	    .next = json_get_str(c->record, "next")};
	report_caution(&s, c);
	h->caution = s.len ? str_take(&s) : NULL;
	brief_add_summary(&s, b);
	h->what = str_take(&s);
	if (outlook && *outlook)
		add_sentence(&h->facts,
		    mem_printf("%c%s.", toupper((unsigned char)*outlook),
			outlook + 1));
	describe_together(h, b);
	for (size_t i = 0; i < c->warnings.n; i++)
		add_sentence(&h->facts,
		    mem_printf("Warning: %s", c->warnings.v[i].text));
}

/* Writes what of the input is not shown. */
static void
write_left_out(struct str *s, const struct model *m)
{
	struct str t = {0};

	str_add(&t,
	    m->incomplete
		? "Some records could not be read; the report shows the others."
		: "");
	if (m->duplicates)
		str_printf(&t, "%s%zu summar%s left out: given twice.",
		    m->incomplete ? " " : "", m->duplicates,
		    m->duplicates == 1 ? "y is" : "ies are");
	if (*t.s)
		html_tag(s, "p", NULL, t.s);
	str_free(&t);
}

/* Describes records without a comparison: runs, changes of a history. */
static void
describe_history(struct headline *h, const struct model *m)
{
	size_t worse = 0, spikes = 0, levels;
	struct str s = {0};

	*h = (struct headline){.outcome = VERDICTS};
	for (size_t i = 0; i < m->nchanges; i++) {
		spikes += strcmp(m->changes[i].way, "spike") == 0;
		worse += strcmp(m->changes[i].way, "regression") == 0 &&
		    !json_get(m->changes[i].rec, "waiver");
	}
	levels = m->nchanges - spikes;
	if (m->nchanges) {
		str_printf(&s, "%zu change%s in the history, %zu for the worse",
		    levels, num_plural((double)levels), worse);
		if (spikes)
			str_printf(&s, "; %zu spike%s that went away", spikes,
			    num_plural((double)spikes));
		str_addc(&s, '.');
		h->what = mem_str(s.s);
		h->outcome = worse ? VERDICT_REGRESSION : VERDICTS;
		str_clear(&s);
	} else
		h->what =
		    m->nsubjects == 1 ? NULL : mem_str("Nothing was compared.");
	str_printf(&s, "%.0f run%s of %zu case%s", m->runs, num_plural(m->runs),
	    m->ncases, num_plural((double)m->ncases));
	if (m->nsubjects != 1)
		str_printf(&s, " and %zu subject%s", m->nsubjects,
		    num_plural((double)m->nsubjects));
	if (m->failed > 0)
		str_printf(&s, "; %.0f run%s failed", m->failed,
		    num_plural(m->failed));
	str_addc(&s, '.');
	if (h->what)
		add_sentence(&h->facts, mem_str(s.s));
	else
		h->what = mem_str(s.s);
	if (!m->nchanges && m->nsubjects == 2)
		add_sentence(&h->facts,
		    mem_str("To compare the subjects, add the output of "
			    "vkb-compare --format jsonl to the input."));
	else if (!m->nchanges && m->nsubjects > 2)
		add_sentence(&h->facts,
		    mem_str("To find changes in a history, add the output of "
			    "vkb-detect --format jsonl to the input."));
	str_free(&s);
}

static void
free_headline(struct headline *h)
{
	for (size_t i = 0; i < h->facts.n; i++)
		free(h->facts.v[i]);
	free(h->facts.v);
	free(h->caution);
	free(h->what);
}

/* --- The first table of the page: a row for each case that changed or is
 * undecided, as the text report of vkb-compare has it. */

static const char *const column_classes[OPTIONAL] = {
    [CHANGE] = "", [P50] = " more", [P99] = " more", [WORK] = " more"};

/* Adds an attribute: how probable it is that the value truly changed. */
static void
write_chance(struct str *s, const struct row *r)
{
	struct str chance = {0};

	if (!(r->facts.p > 0))
		return;
	changetext_chance(&chance, r->facts.p);
	markup_printf(s, " title=\"chance of a change: %s\"", chance.s);
	str_free(&chance);
}

static void
write_column(struct str *s, struct layout *l, const struct brief_case *b,
    enum column which)
{
	struct str t = {0};
	const struct row *r = brief_add_cell(&t, l, b, which);

	str_printf(s, "<td class=\"n%s %s\" data-v=\"%.9g\"",
	    column_classes[which], r && r->gate ? verdict_name(r->verdict) : "",
	    r && !isnan(r->facts.ratio) ? r->facts.ratio : 1);
	if (r)
		write_chance(s, r);
	str_addc(s, '>');
	markup_xml(s, t.len ? t.s : "");
	str_add(s, "</td>");
	str_free(&t);
}

static void
write_values(struct str *s, const struct row *r)
{
	double v[2];

	report_values(r, v);
	str_printf(
	    s, "<td class=\"n wide\" data-v=\"%.9g\">", isnan(v[1]) ? 0 : v[1]);
	if (!r->common) {
		html_number(s, v[0]);
		str_add(s, " &rarr; ");
		html_number(s, v[1]);
	}
	str_add(s, "</td>");
}

static void
write_changed_row(struct str *s, const struct page *p, const struct forest *f,
    struct layout *l, const struct brief_case *b)
{
	struct str rest = {0};

	str_add(s, "<tr><th scope=\"row\">");
	write_case_link(s, model_case(p->m, b->pair->side[0]->config));
	str_add(s, "</th>");
	write_values(s, b->first);
	write_column(s, l, b, CHANGE);
	write_chart(s, f, b->first);
	for (enum column i = P50; i < OPTIONAL; i++)
		if (l->has[i])
			write_column(s, l, b, i);
	str_printf(s, "<td class=\"answer\" data-v=\"%d\">",
	    (int)verdict_rank(b->worst->verdict));
	write_badge(s, b);
	str_add(s, "</td>");
	str_add(s, "</tr>\n");
	brief_add_rest(&rest, l, b);
	if (rest.len)
		markup_printf(s,
		    "<tr class=\"also\"><td class=\"quiet\" "
		    "colspan=\"%d\">%s</td></tr>\n",
		    OPTIONAL + 3, rest.s);
	str_free(&rest);
}

static void
write_changed_head(struct str *s, const struct layout *l)
{
	str_add(s,
	    "<thead><tr><th scope=\"col\">case</th><th scope=\"col\" "
	    "class=\"n wide\">baseline &rarr; contender</th><th scope=\"col\" "
	    "class=\"n\">change</th><td class=\"chart\"></td>");
	for (enum column i = P50; i < OPTIONAL; i++)
		if (l->has[i])
			str_printf(s, "<th scope=\"col\" class=\"n%s\">%s</th>",
			    column_classes[i],
			    brief_titles[i] + (*brief_titles[i] == '>'));
	str_add(s, "<th scope=\"col\">answer</th></tr></thead>\n");
}

/* Writes those of n cases that are judged by this metric first, if there are
 * some. */
static void
write_changed_metric(struct str *s, const struct page *p, struct layout *l,
    const struct brief_case *b, size_t n, const char *metric)
{
	const struct row **v = mem_array(n + 1, sizeof *v);
	struct str cells = {0};
	struct forest f;
	size_t rows = 0;

	for (size_t i = 0; i < n; i++)
		if (strcmp(b[i].first->name, metric) == 0)
			v[rows++] = b[i].first;
	if (rows) {
		f = forest_new(v, rows, metric);
		str_add(&cells, "");
		for (enum column i = P50; i < OPTIONAL; i++)
			if (l->has[i])
				str_printf(&cells, "<td class=\"%s\"></td>",
				    column_classes[i] + 1);
		begin_group(s, metric, &f, "<td class=\"wide\"></td>", cells.s);
		for (size_t i = 0; i < n; i++)
			if (strcmp(b[i].first->name, metric) == 0)
				write_changed_row(s, p, &f, l, &b[i]);
		str_add(s, "</tbody>\n");
	}
	str_free(&cells);
	free(v);
}

static bool
is_undecided(const struct brief_case *b)
{
	return b->worst && b->worst->verdict != VERDICT_EQUIVALENT;
}

/* Returns how many cases have a row: those that changed, and some undecided. */
static size_t
count_shown(const struct brief *b)
{
	size_t n = 0;

	while (n < b->n &&
	    (brief_is_change(&b->v[n]) || (n < PAGE && is_undecided(&b->v[n]))))
		n++;
	return n;
}

static void
write_changed(struct str *s, const struct page *p, const struct pair *pair,
    const struct brief *b)
{
	struct layout l = {.name = SIZE_MAX, .narrow = NO_FUNCTIONS};
	size_t shown = count_shown(b), n, more = 0;
	const char **metrics = model_compared(p->m, &n);

	if (shown) {
		brief_choose_columns(&l, b, shown);
		html_browse(s, PAGE, NULL, NULL, 0);
		markup_printf(s,
		    "<div class=\"scroll\" tabindex=\"0\" role=\"region\" "
		    "aria-label=\"Cases: %s against %s\">\n"
		    "<table class=\"changed\">\n",
		    pair->contender->name, pair->base->name);
		write_changed_head(s, &l);
		for (size_t i = 0; i < n; i++)
			write_changed_metric(s, p, &l, b->v, shown, metrics[i]);
		str_add(s, "</table>\n</div>\n");
		if (l.legend)
			str_add(s,
			    "<p class=\"quiet\">=: no change, "
			    "~: undecided</p>\n");
		html_browse_end(s);
	}
	for (size_t i = shown; i < b->n; i++)
		more += !b->v[i].first->common && is_undecided(&b->v[i]);
	if (more)
		str_printf(s,
		    "<p>%zu more case%s undecided: <a href=\"#changes\">all "
		    "results</a>.</p>\n",
		    more, more == 1 ? " is" : "s are");
	free(metrics);
}

/* --- The top of the page: the result of each comparison, and the cases that
 * changed. */

enum { FACTS = 5 }; /* that are shown at first */

static void
write_facts(struct str *s, const struct sentences *l)
{
	for (size_t i = 0; i < l->n; i++) {
		if (i == FACTS && l->n > FACTS + 1)
			str_printf(s,
			    "</ul>\n<details><summary>%zu more notes"
			    "</summary>\n<ul>\n",
			    l->n - FACTS);
		else if (!i)
			str_add(s, "<ul>\n");
		markup_printf(s, "<li>%s</li>\n", l->v[i]);
	}
	str_add(s, l->n ? "</ul>\n" : "");
	str_add(s, l->n > FACTS + 1 ? "</details>\n" : "");
}

/* Writes what was compared, unless the title of the page says the same. */
static void
write_subjects(struct str *s, const struct page *p, const struct pair *pair)
{
	struct str t = {0};

	write_subject(&t, p, pair->contender);
	str_add(&t, " against ");
	write_subject(&t, p, pair->base);
	if (p->title || p->m->npairs > 1 || strchr(t.s, '<'))
		str_printf(s, "<p class=\"quiet\">%s</p>\n", t.s);
	str_free(&t);
}

static void
write_headline(struct str *s, const struct page *p, const struct headline *h)
{
	markup_printf(s, "<div class=\"verdict %s\">\n",
	    h->outcome == VERDICTS ? "none" : verdict_name(h->outcome));
	if (h->caution)
		html_tag(s, "p", "caution", h->caution);
	html_tag(s, "p", "lead", h->what);
	if (h->pair)
		write_subjects(s, p, h->pair);
	write_facts(s, &h->facts);
	if (h->next && *h->next)
		markup_printf(s, "<p>Next: <code>%s</code></p>\n", h->next);
	str_add(s, "</div>\n");
}

/* Writes how a comparison was judged, folded. */
static void
write_method(struct str *s, const struct comparison *c)
{
	const char *method = json_get_str(c->record, "method");
	struct str overall = {0}, one = {0};

	if (!method || !*method)
		return;
	str_add(s, "<details><summary>How this was judged</summary>\n");
	html_tag(s, "p", "quiet", method);
	for (size_t i = 0; i < c->noverall; i++) {
		if (!report_overall(&one, &c->overall[i], "Overall"))
			continue;
		str_addc(&one, '.');
		html_tag(&overall, "li", NULL, one.s);
		str_clear(&one);
	}
	if (overall.len)
		str_printf(s, "<ul class=\"quiet\">\n%s</ul>\n", overall.s);
	str_add(s, "</details>\n");
	str_free(&overall);
	str_free(&one);
}

static void
write_verdicts(struct str *s, const struct page *p)
{
	const struct model *m = p->m;
	struct headline h;

	str_add(s, "<section id=\"verdict\" aria-label=\"Verdict\">\n");
	for (size_t i = 0; i < m->npairs; i++) {
		struct brief b = brief_collect(m->pairs[i].c);

		describe_pair(&h, &m->pairs[i], &b);
		write_headline(s, p, &h);
		write_changed(s, p, &m->pairs[i], &b);
		free_headline(&h);
		free(b.v);
	}
	if (!m->npairs || m->nchanges) {
		describe_history(&h, m);
		write_headline(s, p, &h);
		free_headline(&h);
	}
	write_results(s, p);
	if (*m->common)
		markup_printf(
		    s, "<p class=\"quiet\">All cases: %s</p>\n", m->common);
	write_left_out(s, m);
	for (size_t i = 0; i < m->npairs; i++)
		write_method(s, m->pairs[i].c);
	str_add(s, "</section>\n");
}

extern const char page_style[], page_script[];
ASSET(page_style, "src/vkb-report/page.css");
ASSET(page_script, "src/vkb-report/page.js");

static void
format_title(struct str *s, const struct page *p)
{
	const struct model *m = p->m;

	if (p->title)
		str_add(s, p->title);
	else if (m->npairs) {
		for (size_t i = 0; i < m->npairs; i++) {
			const struct pair *pair = &m->pairs[i];

			str_printf(
			    s, "%s%s", i ? ", " : "", pair->contender->name);
			if (i + 1 == m->npairs || pair[1].base != pair->base)
				str_printf(s, " against %s", pair->base->name);
		}
	} else if (m->nsubjects == 1)
		str_printf(s, "Benchmarks of %s", m->ordered[0]->name);
	else
		str_add(s, "Benchmarks");
}

static void
write_legend_entry(struct str *s, const struct subject *who)
{
	str_printf(s,
	    "<li><input type=\"checkbox\" checked hidden id=\"show%zu\" "
	    "data-subject=\"%zu\"><label for=\"show%zu\"><svg "
	    "class=\"plot key\" viewBox=\"0 0 12 12\" aria-hidden=\"true\">",
	    who->look, who->look, who->look);
	plot_marker(s, 6, 6, who->look, NULL);
	markup_printf(s, "</svg> %s</label>", who->name);
	if (who->baseline)
		str_add(s, " <span class=\"quiet\">baseline</span>");
	str_add(s, "</li>\n");
}

/* Writes colour and shape of each subject, with a checkbox that hides it. */
static void
write_legend(struct str *s, const struct page *p)
{
	const struct model *m = p->m;

	if (m->nsubjects < 2)
		return;
	str_add(s, "<ul class=\"legend\" aria-label=\"Subjects\">\n");
	for (size_t i = 0; i < m->nsubjects; i++)
		if (m->ordered[i]->look < MODEL_LOOKS)
			write_legend_entry(s, m->ordered[i]);
	if (m->nsubjects > MODEL_LOOKS)
		str_printf(s,
		    "<li class=\"quiet\">%zu more appear only in the trend "
		    "plots</li>\n",
		    m->nsubjects - MODEL_LOOKS);
	str_add(s, "</ul>\n");
}

enum fold { FOLD_NEVER, FOLD_MANY, FOLD_ALWAYS };

struct section {
	const char *id, *title;
	enum fold fold; /* at first */
	void (*write)(struct str *, const struct page *);
};

static const struct section sections[] = {
    {"history", "History", FOLD_NEVER, write_history},
    {"changes", "All results", FOLD_ALWAYS, write_all_changes},
    {"cases", "Cases", FOLD_MANY, write_cases},
    {"scaling", "Scaling", FOLD_MANY, write_scaling},
    {"profiles", "Profiles", FOLD_MANY, write_profiles},
    {"failed", "Failed", FOLD_MANY, write_failed},
    {"environment", "Environment", FOLD_ALWAYS, write_environment},
};

enum { SECTIONS = sizeof sections / sizeof *sections };

/* Is a section open at first? Some are if the page is short. */
static bool
is_open(const struct model *m, const struct section *part)
{
	return part->fold == FOLD_NEVER ||
	    (part->fold == FOLD_MANY && m->ncases <= FEW);
}

static void
write_section(struct str *s, const struct page *p, const struct section *part,
    const struct str *text)
{
	str_printf(s,
	    "<details class=\"section\" id=\"%s\"%s>\n"
	    "<summary><h2>%s</h2></summary>\n",
	    part->id, is_open(p->m, part) ? " open" : "", part->title);
	str_addn(s, text->s, text->len);
	str_add(s, "</details>\n");
}

static void
write_links(struct str *s, const struct str *parts)
{
	size_t n = 0;

	for (size_t i = 0; i < SECTIONS; i++) {
		if (!parts[i].len)
			continue;
		str_add(s, n++ ? "" : "<nav aria-label=\"Sections\"><ul>\n");
		str_printf(s, "<li><a href=\"#%s\">%s</a></li>\n",
		    sections[i].id, sections[i].title);
	}
	str_add(s, n ? "</ul></nav>\n" : "");
}

void
page_write(struct str *s, const struct page *p)
{
	struct str parts[SECTIONS] = {{0}}, style = {0}, title = {0};
	struct html_page html;

	plot_add_style(&style);
	str_add(&style, page_style);
	format_title(&title, p);
	html = (struct html_page){
	    title.s, "vkb-report", style.s, page_script, p->m->profiles.n > 0};
	html_begin(s, &html);
	markup_printf(s,
	    "<a class=\"skip\" href=\"#main\">Skip to the report</a>\n"
	    "<header>\n<h1>%s</h1>\n",
	    title.s);
	for (size_t i = 0; i < SECTIONS; i++)
		sections[i].write(&parts[i], p);
	write_links(s, parts);
	str_add(s, "</header>\n<main id=\"main\">\n");
	write_verdicts(s, p);
	write_legend(s, p);
	for (size_t i = 0; i < SECTIONS; i++) {
		if (parts[i].len)
			write_section(s, p, &sections[i], &parts[i]);
		str_free(&parts[i]);
	}
	str_printf(s,
	    "</main>\n<footer class=\"quiet\">%zu record%s, by vkb-report %s."
	    "</footer>\n",
	    p->m->records, p->m->records == 1 ? "" : "s", opt_version());
	html_end(s, &html);
	str_free(&style);
	str_free(&title);
}
