/*
 * The top of the page: the result of each comparison, and the cases that
 * changed.
 */
#include "forest.h"
#include "headline.h"
#include "html.h"
#include "json.h"
#include "markup.h"
#include "metric.h"
#include "model.h"
#include "num.h"
#include "page.h"
#include "str.h"

#include <math.h>
#include <string.h>

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
write_subjects(struct str *s, const struct page *p, const struct headline *h)
{
	struct str t = {0};

	page_subject(&t, p, h->contender);
	str_add(&t, " against ");
	page_subject(&t, p, h->base);
	if (p->title || p->m->npairs > 1 || strchr(t.s, '<'))
		str_printf(s, "<p class=\"quiet\">%s</p>\n", t.s);
	str_free(&t);
}

static void
write_card(struct str *s, size_t n, const char *what, const char *end)
{
	if (n)
		markup_printf(
		    s, "<div><dt>%s%s</dt><dd>%zu</dd></div>\n", what, end, n);
}

/* Writes how many cases there are, and results of each verdict. */
static void
write_cards(struct str *s, const struct model *m, const struct headline *h)
{
	if (!m->ncases)
		return;
	str_add(s, "<dl class=\"cards\">\n");
	write_card(s, m->ncases, "case", num_plural((double)m->ncases));
	if (!h->contender)
		write_card(s, m->nsubjects, "subject",
		    num_plural((double)m->nsubjects));
	for (size_t v = 0; v < MODEL_VERDICTS; v++)
		write_card(s, h->count[v],
		    model_verdict_word((enum model_verdict)v), "");
	str_add(s, "</dl>\n");
}

static void
write_headline(struct str *s, const struct page *p, const struct headline *h)
{
	markup_printf(s, "<div class=\"verdict %s\">\n",
	    h->outcome == MODEL_VERDICTS ? "none"
					 : model_verdict_name(h->outcome));
	if (h->caution)
		html_tag(s, "p", "caution", h->caution);
	html_tag(s, "p", "lead", h->what);
	if (h->contender)
		write_subjects(s, p, h);
	write_facts(s, &h->facts);
	write_cards(s, p->m, h);
	if (h->next)
		markup_printf(s, "<p>Next: <code>%s</code></p>\n", h->next);
	str_add(s, "</div>\n");
}

/* Writes the geometric mean over all cases, for each gate metric. */
static void
write_overall(struct str *s, const struct json *rec)
{
	const struct json *j = json_first(json_get(rec, "overall"));

	for (; j; j = json_next(j)) {
		struct range ci = model_range(json_get(j, "ci95_runs"));
		double ratio = json_get_num(j, "ratio", NAN);
		double n = json_get_num(j, "cases", 0);
		struct str t = {0};

		if (!metric_guess(json_key(j)).gate || isnan(ratio) || n < 2)
			continue;
		str_add(&t, "Overall ");
		metric_write_label(&t, json_key(j));
		str_printf(&t, ": %+.1f%%", 100 * (ratio - 1));
		forest_interval(&t, ci.lo, ci.hi);
		str_printf(&t, ", geometric mean of %.0f cases.", n);
		html_tag(s, "li", NULL, t.s);
		str_free(&t);
	}
}

/* Writes how a comparison was judged, folded. */
static void
write_method(struct str *s, const struct json *rec)
{
	const char *method = json_get_str(rec, "method");
	struct str overall = {0};

	if (!method || !*method)
		return;
	str_add(s, "<details><summary>How this was judged</summary>\n");
	html_tag(s, "p", "quiet", method);
	write_overall(&overall, rec);
	if (overall.len)
		str_printf(s, "<ul class=\"quiet\">\n%s</ul>\n", overall.s);
	str_add(s, "</details>\n");
	str_free(&overall);
}

void
page_verdict(struct str *s, const struct page *p)
{
	const struct model *m = p->m;
	size_t n;
	struct headline *h = headlines_new(m, &n);
	struct str left = {0};

	str_add(s, "<section id=\"verdict\" aria-label=\"Verdict\">\n");
	for (size_t i = 0; i < n; i++) {
		write_headline(s, p, &h[i]);
		if (h[i].contender)
			page_changed(s, p, &h[i]);
	}
	page_results(s, p);
	if (*m->common)
		markup_printf(
		    s, "<p class=\"quiet\">All cases: %s</p>\n", m->common);
	headline_left_out(&left, m);
	if (*left.s)
		html_tag(s, "p", NULL, left.s);
	for (size_t i = 0; i < m->npairs; i++)
		write_method(s, m->pairs[i].rec);
	str_add(s, "</section>\n");
	str_free(&left);
	headlines_free(h, n);
}
