#include "figure.h"
#include "forest.h"
#include "json.h"
#include "markup.h"
#include "model.h"
#include "page.h"
#include "str.h"

#include <string.h>

enum { OPEN = 2, SCALINGS = 40 };

/* Adds the change that a comparison found to the runs of a metric. */
static void
write_changes(struct str *s, const struct figure *f)
{
	for (size_t i = 0; f->kind == FIGURE_RUNS && i < f->kase->ndeltas;
	     i++) {
		const struct delta *d = f->kase->deltas[i];
		struct str t = {0};

		if (strcmp(d->metric, f->metric) != 0)
			continue;
		forest_change(&t, d);
		markup_printf(s, "; %s%s", t.s,
		    json_get_bool(d->rec, "paired", false)
			? " between the runs of a round"
			: "");
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

void
page_case_link(struct str *s, const struct kase *k)
{
	if (k->place < PAGE_CASES && k->ncells)
		markup_printf(
		    s, "<a href=\"#case-%zu\">%s</a>", k->place + 1, k->name);
	else
		markup_xml(s, k->name);
}

/* Writes figures and numbers of a case; nothing if it has none. */
static void
write_case(struct str *s, const struct page *p, const struct kase *k)
{
	struct str figures = {0}, numbers = {0};

	for (size_t f = 0; f < p->figures->n; f++)
		if (p->figures->v[f].kase == k)
			write_figure(&figures, p, &p->figures->v[f]);
	page_numbers(&numbers, p, k);
	if (figures.len || numbers.len) {
		markup_printf(s,
		    "<details class=\"case\" id=\"case-%zu\"%s>\n<summary><h3>"
		    "%s</h3>",
		    k->place + 1, k->place < OPEN ? " open" : "", k->name);
		str_addc(s, ' ');
		if (k->ndeltas)
			page_badge(s, k->deltas[0],
			    model_verdict_word(k->deltas[0]->verdict));
		str_add(s, "</summary>\n");
	}
	if (figures.len)
		str_printf(s, "<div class=\"figures\">\n%s</div>\n", figures.s);
	if (figures.len || numbers.len)
		str_printf(s, "%s</details>\n", numbers.len ? numbers.s : "");
	str_free(&figures);
	str_free(&numbers);
}

void
page_cases(struct str *s, const struct page *p)
{
	const struct model *m = p->m;
	size_t n = m->ncases < PAGE_CASES ? m->ncases : PAGE_CASES;
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

void
page_scaling(struct str *s, const struct page *p)
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
	page_scaling_numbers(s, p);
}
