/*
 * The first table of the page: a row for each case that changed, or likely
 * changed, as the text report of vkb-compare has it.
 */
#include "changetext.h"
#include "figure.h"
#include "forest.h"
#include "headline.h"
#include "html.h"
#include "json.h"
#include "markup.h"
#include "mem.h"
#include "metric.h"
#include "model.h"
#include "page.h"
#include "str.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PAGE = 20 }; /* rows that are shown at once */

/* The columns behind the change of the first metric, if cases have them. */
enum { P50, P99, WORK, COLUMNS };
static const struct {
	const char *metric, *title, *class;
} columns[COLUMNS] = {[P50] = {"p50_latency_ms", "p50", "wide"},
    [P99] = {"p99_latency_ms", "p99", "wide"},
    [WORK] = {"instructions_per_req", "work (exact)", "work"}};

struct changed { /* a case of a pair of subjects */
	const struct kase *kase;
	const struct delta *first; /* of the primary metric */
	const struct delta *worst; /* that decides its answer */
	const struct delta *column[COLUMNS];
};

struct table {
	struct changed *v;
	size_t n;
	bool has[COLUMNS];
};

static const struct delta *
find_delta(const struct kase *k, const struct headline *h, const char *metric)
{
	for (size_t i = 0; i < k->ndeltas; i++)
		if (headline_has(h, k->deltas[i]) && k->deltas[i]->gate &&
		    strcmp(k->deltas[i]->metric, metric) == 0)
			return k->deltas[i];
	return NULL;
}

/* Collects the results of a case. Returns false if it did not change. */
static bool
collect_case(struct changed *c, const struct kase *k, const struct headline *h)
{
	*c = (struct changed){.kase = k};
	for (size_t i = 0; i < k->ndeltas; i++) {
		const struct delta *d = k->deltas[i];

		if (!headline_has(h, d) || !d->gate)
			continue;
		if (!c->worst || json_get(d->rec, "answer"))
			c->worst = d;
		if (json_get_bool(d->rec, "primary", false))
			c->first = d;
	}
	if (!c->worst ||
	    (!c->worst->waived && c->worst->verdict > MODEL_LIKELY_DIFFERENT))
		return false;
	if (!c->first)
		c->first = find_delta(k, h, metric_primary(k->config));
	if (!c->first)
		c->first = c->worst;
	for (size_t i = 0; i < COLUMNS; i++) {
		c->column[i] = find_delta(k, h, columns[i].metric);
		if (c->column[i] == c->first)
			c->column[i] = NULL;
	}
	return true;
}

/* Orders cases as vkb-compare does: what needs attention first. */
static int
compare_cases(const void *a, const void *b)
{
	const struct delta *x = ((const struct changed *)a)->worst;
	const struct delta *y = ((const struct changed *)b)->worst;
	enum model_verdict v = x->waived ? MODEL_DIFFERENT : x->verdict;
	enum model_verdict w = y->waived ? MODEL_DIFFERENT : y->verdict;
	double p = fabs(log(x->ratio)), q = fabs(log(y->ratio));

	if (v != w)
		return v < w ? -1 : 1;
	p = isnan(p) ? 0 : p;
	q = isnan(q) ? 0 : q;
	if (p < q || p > q)
		return p > q ? -1 : 1;
	return ((const struct changed *)a)->kase->place <
		((const struct changed *)b)->kase->place
	    ? -1
	    : 1;
}

static struct table
collect_cases(const struct model *m, const struct headline *h)
{
	struct table t = {.v = mem_array(m->ncases + 1, sizeof *t.v)};

	for (size_t i = 0; i < m->ncases; i++) {
		if (!collect_case(&t.v[t.n], m->order[i], h))
			continue;
		for (size_t k = 0; k < COLUMNS; k++)
			t.has[k] |= t.v[t.n].column[k] != NULL;
		t.n++;
	}
	if (t.n)
		qsort(t.v, t.n, sizeof *t.v, compare_cases);
	return t;
}

/* Writes a change as the text report of vkb-compare does. */
static void
write_change(struct str *s, const struct delta *d, bool words)
{
	struct changetext text = model_changetext(d);

	changetext_cell(s, &text, model_verdict(d),
	    json_get_bool(d->rec, "noise", false), words);
}

/* Adds an attribute: how probable it is that the value truly changed. */
static void
write_chance(struct str *s, const struct delta *d)
{
	double p = json_get_num(d->rec, "probability", 0);
	struct str chance = {0};

	if (!(p > 0))
		return;
	changetext_chance(&chance, p);
	markup_printf(s, " title=\"chance of a change: %s\"", chance.s);
	str_free(&chance);
}

static void
write_column(struct str *s, const struct changed *c, size_t which)
{
	const struct delta *d = c->column[which];
	const char *functions = d ? json_get_str(d->rec, "functions") : NULL;
	struct str t = {0};

	if (d) {
		write_change(&t, d, false);
		if (functions) { /* the first of them */
			str_add(&t, ", ");
			str_addn(&t, functions, strcspn(functions, ","));
		}
	}
	str_printf(s, "<td class=\"n %s %s\" data-v=\"%.9g\"",
	    columns[which].class,
	    d && d->gate ? model_verdict_name(d->verdict) : "",
	    d && !isnan(d->ratio) ? d->ratio : 1);
	if (d)
		write_chance(s, d);
	str_addc(s, '>');
	html_text(s, t.len ? t.s : "");
	str_add(s, "</td>");
	str_free(&t);
}

static void
write_values(struct str *s, const struct delta *d)
{
	struct changetext text = model_changetext(d);
	double v[2];

	changetext_values(&text, v);
	str_printf(
	    s, "<td class=\"n wide\" data-v=\"%.9g\">", isnan(v[1]) ? 0 : v[1]);
	if (!json_get_bool(d->rec, "common", false)) {
		html_number(s, v[0]);
		str_add(s, " &rarr; ");
		html_number(s, v[1]);
	}
	str_add(s, "</td>");
}

/* Has the row of the case this result in a column? */
static bool
is_in_column(
    const struct table *t, const struct changed *c, const struct delta *d)
{
	for (size_t i = 0; i < COLUMNS; i++)
		if (t->has[i] && c->column[i] == d)
			return true;
	return d == c->first;
}

/* Writes "also CPU per request +11.2% worse": changes without a column. */
static void
write_others(struct str *s, const struct table *t, const struct headline *h,
    const struct changed *c)
{
	struct str text = {0};

	for (size_t i = 0; i < c->kase->ndeltas; i++) {
		const struct delta *d = c->kase->deltas[i];

		if (!headline_has(h, d) || !d->gate || is_in_column(t, c, d) ||
		    (!d->waived && d != c->worst &&
			d->verdict > MODEL_LIKELY_DIFFERENT))
			continue;
		str_add(&text, text.len ? "; " : "also ");
		metric_write_label(&text, d->metric);
		str_addc(&text, ' ');
		write_change(&text, d, false);
		str_printf(&text, " %s",
		    d->waived ? "waived" : model_verdict_word(d->verdict));
	}
	if (text.len)
		markup_printf(s, "<br><span class=\"quiet\">%s</span>", text.s);
	str_free(&text);
}

static void
write_row(struct str *s, const struct table *t, const struct headline *h,
    const struct forest *f, const struct changed *c)
{
	const char *answer = json_get_str(c->worst->rec, "answer");
	struct str change = {0};

	str_add(s, "<tr><th scope=\"row\">");
	page_case_link(s, c->kase);
	str_add(s, "</th>");
	write_values(s, c->first);
	write_change(&change, c->first, true);
	str_printf(s, "<td class=\"n %s\" data-v=\"%.9g\"",
	    model_verdict_name(c->first->verdict),
	    isnan(c->first->ratio) ? 0 : c->first->ratio - 1);
	write_chance(s, c->first);
	str_addc(s, '>');
	html_text(s, change.s);
	str_add(s, "</td>");
	page_chart(s, f, c->first);
	for (size_t i = 0; i < COLUMNS; i++)
		if (t->has[i])
			write_column(s, c, i);
	str_printf(s, "<td data-v=\"%d\">", (int)c->worst->verdict);
	page_badge(s, c->worst,
	    answer ? answer : model_verdict_word(c->worst->verdict));
	write_others(s, t, h, c);
	str_add(s, "</td></tr>\n");
	str_free(&change);
}

static void
write_head(struct str *s, const struct table *t)
{
	str_add(s,
	    "<thead><tr><th scope=\"col\">case</th><th scope=\"col\" "
	    "class=\"n wide\">baseline &rarr; contender</th><th scope=\"col\" "
	    "class=\"n\">change</th><td class=\"chart\"></td>");
	for (size_t i = 0; i < COLUMNS; i++)
		if (t->has[i])
			str_printf(s,
			    "<th scope=\"col\" class=\"n %s\">%s</th>",
			    columns[i].class, columns[i].title);
	str_add(s, "<th scope=\"col\">answer</th></tr></thead>\n");
}

/* Writes the cases that are judged by this metric first, if there are some. */
static void
write_metric(struct str *s, const struct table *t, const struct headline *h,
    const char *metric)
{
	const struct delta **v = mem_array(t->n + 1, sizeof *v);
	struct str title = {0};
	struct forest f;
	size_t n = 0;

	for (size_t i = 0; i < t->n; i++)
		if (strcmp(t->v[i].first->metric, metric) == 0)
			v[n++] = t->v[i].first;
	f = forest_new(v, n, metric);
	if (n) {
		figure_label(&title, metric);
		markup_printf(s,
		    "<tbody><tr class=\"group\"><th scope=\"rowgroup\">%s"
		    "</th><td class=\"wide\"></td><td></td>",
		    title.s);
		page_scale(s, &f);
		for (size_t k = 0; k < COLUMNS; k++)
			if (t->has[k])
				str_printf(s, "<td class=\"%s\"></td>",
				    columns[k].class);
		str_add(s, "<td></td></tr>\n");
	}
	for (size_t i = 0; i < t->n; i++)
		if (strcmp(t->v[i].first->metric, metric) == 0)
			write_row(s, t, h, &f, &t->v[i]);
	str_add(s, n ? "</tbody>\n" : "");
	str_free(&title);
	free(v);
}

void
page_changed(struct str *s, const struct page *p, const struct headline *h)
{
	struct table t = collect_cases(p->m, h);
	size_t n;
	const char **metrics = page_metrics(p->m, &n);

	if (t.n) {
		html_browse(s, PAGE, NULL, NULL, 0);
		markup_printf(s,
		    "<div class=\"scroll\" tabindex=\"0\" role=\"region\" "
		    "aria-label=\"Cases that changed: %s against %s\">\n"
		    "<table class=\"changed\">\n",
		    h->contender->name, h->base->name);
		write_head(s, &t);
		for (size_t i = 0; i < n; i++)
			write_metric(s, &t, h, metrics[i]);
		str_add(s,
		    "</table>\n</div>\n<p class=\"quiet\">=: no change, "
		    "~: undecided</p>\n");
		html_browse_end(s);
	}
	free(metrics);
	free(t.v);
}
