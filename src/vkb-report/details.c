#include "figure.h"
#include "markup.h"
#include "model.h"
#include "page.h"
#include "str.h"

enum { OPEN = 4, SCALINGS = 40 };

static void
write_figure(struct str *s, const struct page *p, const struct figure *f)
{
	markup_printf(s, "<figure>\n<figcaption>%s</figcaption>\n",
	    f->brief ? f->brief : f->title);
	figure_draw(s, p->figures, f, false);
	str_add(s, "\n</figure>\n");
}

void
page_case_link(struct str *s, const struct kase *k)
{
	if (k->place < PAGE_CASES)
		markup_printf(
		    s, "<a href=\"#case-%zu\">%s</a>", k->place + 1, k->name);
	else
		markup_xml(s, k->name);
}

void
page_cases(struct str *s, const struct page *p)
{
	const struct model *m = p->m;
	size_t n = m->ncases < PAGE_CASES ? m->ncases : PAGE_CASES;

	if (!n)
		return;
	str_add(s,
	    "<p class=\"quiet\">Dots are runs in the order they were made, "
	    "lines are medians, shaded areas 95% intervals. In plots of "
	    "percentiles, shaded areas are the range of single runs. The value "
	    "axes do not begin at 0.");
	if (n < m->ncases)
		str_printf(s, " The %zu most notable of %zu cases are shown.",
		    n, m->ncases);
	str_add(s, "</p>\n");
	for (size_t i = 0; i < n; i++) {
		const struct kase *k = m->order[i];

		markup_printf(s,
		    "<details class=\"case\" id=\"case-%zu\"%s>\n<summary><h3>"
		    "%s</h3>",
		    i + 1, i < OPEN ? " open" : "", k->name);
		if (k->ndeltas)
			str_printf(s, " <span class=\"badge %s\">%s</span>",
			    model_verdict_name(k->deltas[0]->verdict),
			    model_verdict_name(k->deltas[0]->verdict));
		str_add(s, "</summary>\n<div class=\"figures\">\n");
		for (size_t f = 0; f < p->figures->n; f++)
			if (p->figures->v[f].kase == k)
				write_figure(s, p, &p->figures->v[f]);
		str_add(s, "</div>\n");
		page_numbers(s, p, k);
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
