#include "figure.h"
#include "html.h"
#include "json.h"
#include "metric.h"
#include "model.h"
#include "page.h"
#include "scaling.h"
#include "str.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

enum { OPEN = 4, SCALINGS = 40 };

static void
figure(struct str *s, const struct page *p, const struct figure *f)
{
	str_add(s, "<figure>\n<figcaption>");
	html_text(s, f->brief ? f->brief : f->title);
	str_add(s, "</figcaption>\n");
	figure_draw(s, p->figures, f, false);
	str_add(s, "\n</figure>\n");
}

static void
notes(struct str *s, const struct json *one)
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
cell(struct str *s, double v)
{
	str_add(s, "<td class=\"n\">");
	html_number(s, v);
	str_add(s, "</td>");
}

static void
interval(struct str *s, const struct json *pair)
{
	str_add(s, "<td class=\"n\">");
	if (pair) {
		str_addc(s, '[');
		html_number(s, json_num(json_at(pair, 0), NAN));
		str_add(s, ", ");
		html_number(s, json_num(json_at(pair, 1), NAN));
		str_addc(s, ']');
	} else
		str_addc(s, '-');
	str_add(s, "</td>");
}

static void
row(struct str *s, const struct page *p, const struct cell *c,
    const struct json *one)
{
	str_add(s, "<tr><th scope=\"row\">");
	html_text(s, json_key(one));
	str_add(s, "</th><td>");
	html_subject(s, &p->m->subjects[c->subject], p->commit_url);
	str_add(s, "</td>");
	cell(s, json_get_num(one, "n", NAN));
	cell(s, json_get_num(one, "median", NAN));
	interval(s, json_get(one, "ci95"));
	cell(s, json_get_num(one, "cv_percent", NAN));
	cell(s, json_get_num(one, "min", NAN));
	cell(s, json_get_num(one, "max", NAN));
	str_add(s, "<td>");
	notes(s, one);
	str_add(s, "</td></tr>\n");
}

static bool
is_first(const struct cell *const *c, size_t n, const char *metric)
{
	while (n-- > 0)
		if (model_metric(c[n], metric))
			return false;
	return true;
}

/* The numbers behind the pictures. */
static void
numbers(struct str *s, const struct page *p, const struct kase *k)
{
	const struct cell *c[MODEL_LOOKS];
	size_t n = figure_cells(k, c);

	str_printf(s,
	    "<details class=\"numbers\"><summary>Numbers</summary>\n"
	    "<div class=\"scroll\" tabindex=\"0\" role=\"region\" "
	    "aria-label=\"Numbers of case %zu\">"
	    "<table>\n<thead><tr><th scope=\"col\">metric</th>"
	    "<th scope=\"col\">subject</th><th scope=\"col\">n</th>"
	    "<th scope=\"col\">median</th><th scope=\"col\">95%% interval</th>"
	    "<th scope=\"col\">cv %%</th><th scope=\"col\">min</th>"
	    "<th scope=\"col\">max</th><th "
	    "scope=\"col\">notes</th></tr></thead>\n"
	    "<tbody>\n",
	    k->place + 1);
	for (size_t i = 0; i < n; i++) {
		const struct json *j =
		    json_first(json_get(c[i]->rec, "metrics"));

		for (; j; j = json_next(j)) {
			if (!is_first(c, i, json_key(j)))
				continue;
			for (size_t b = i; b < n; b++) {
				const struct json *one =
				    model_metric(c[b], json_key(j));

				if (one)
					row(s, p, c[b], one);
			}
		}
	}
	str_add(s, "</tbody></table></div></details>\n");
}

void
page_cases(struct str *s, const struct page *p)
{
	const struct model *m = p->m;
	size_t n = m->ncases < PAGE_CASES ? m->ncases : PAGE_CASES, at = 0;

	if (!n)
		return;
	str_add(s,
	    "<p class=\"quiet\">Dots are runs in the order they were made, "
	    "lines "
	    "medians, shades 95% intervals; over the percentiles shades are "
	    "what single runs had. The axes of values do not begin at 0.");
	if (n < m->ncases)
		str_printf(s,
		    " The %zu most remarkable of %zu cases are shown.", n,
		    m->ncases);
	str_add(s, "</p>\n");
	while (at < p->figures->n && !p->figures->v[at].kase)
		at++;
	for (size_t i = 0; i < n; i++) {
		const struct kase *k = m->order[i];

		str_printf(s,
		    "<details class=\"case\" id=\"case-%zu\"%s>\n<summary><h3>",
		    i + 1, i < OPEN ? " open" : "");
		html_text(s, k->name);
		str_add(s, "</h3>");
		if (k->ndeltas)
			str_printf(s, " <span class=\"badge %s\">%s</span>",
			    model_verdict_name(k->deltas[0]->verdict),
			    model_verdict_name(k->deltas[0]->verdict));
		str_add(s, "</summary>\n<div class=\"figures\">\n");
		for (size_t f = 0; f < p->figures->n; f++)
			if (p->figures->v[f].kase == k)
				figure(s, p, &p->figures->v[f]);
		str_add(s, "</div>\n");
		numbers(s, p, k);
		str_add(s, "</details>\n");
	}
}

void
page_scaling(struct str *s, const struct page *p)
{
	size_t shown = 0, all = 0;

	for (size_t i = 0; i < p->figures->n; i++)
		all += p->figures->v[i].kind == FIGURE_SCALING;
	if (!all)
		return;
	str_add(s,
	    "<p class=\"quiet\">Medians with their 95% intervals, of cases "
	    "that "
	    "differ in one number alone.");
	if (all > SCALINGS)
		str_printf(s, " The first %d of %zu.", SCALINGS, all);
	str_add(s, "</p>\n<div class=\"figures\">\n");
	for (size_t i = 0; i < p->figures->n && shown < SCALINGS; i++)
		if (p->figures->v[i].kind == FIGURE_SCALING) {
			figure(s, p, &p->figures->v[i]);
			shown++;
		}
	str_add(s, "</div>\n");
}
