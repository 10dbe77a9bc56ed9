#include "forest.h"
#include "html.h"
#include "json.h"
#include "markup.h"
#include "model.h"
#include "page.h"
#include "record.h"
#include "str.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void
write_range(struct str *s, const struct json *rec)
{
	const struct json *range = json_get(rec, "range");
	const char *from = json_str(json_at(range, 0));
	const char *to = json_str(json_at(range, 1));
	char *brief[2];

	if (!from || !to || strcmp(from, to) == 0) {
		str_add(s, "<td>-</td>");
		return;
	}
	brief[0] = record_commit_brief(from, 8);
	brief[1] = record_commit_brief(to, 8);
	markup_printf(s, "<td>%s to %s</td>", brief[0], brief[1]);
	free(brief[0]);
	free(brief[1]);
}

static void
write_row(struct str *s, const struct page *p, const struct change *c)
{
	const struct kase *k = c->kase;
	const struct json *rec = c->rec;
	struct range ci = model_range(json_get(rec, "ci95"));

	str_add(s, "<tr><th scope=\"row\">");
	page_case_link(s, k);
	str_add(s, "</th>");
	html_tag(s, "td", NULL, c->metric);
	page_subject_cell(s, p, c->subject);
	write_range(s, rec);
	str_add(s, "<td class=\"n\">");
	forest_percent(s, rec, c->ratio);
	forest_interval(s, ci.lo, ci.hi);
	markup_printf(s, "</td><td><span class=\"badge %s\">%s%s</span>",
	    strcmp(c->way, "regression") == 0        ? "regression"
		: strcmp(c->way, "improvement") == 0 ? "improvement"
						     : "spike",
	    c->way == c->kind ? "" : "slow ", c->way);
	if (json_get_bool(rec, "new", false))
		str_add(s, ", new");
	if (json_get(rec, "waiver"))
		str_add(s, ", waived");
	str_add(s, "</td></tr>\n");
}

/* Writes a table of the changes; the plots are in the sections of the cases. */
void
page_history(struct str *s, const struct page *p)
{
	const struct model *m = p->m;

	if (!m->nchanges)
		return;
	html_table(s, "Changes in the history",
	    "Changes in the level of a metric; each is plotted in the section "
	    "of its case.",
	    "case|metric|since|range of commits|>change|kind", NULL, 0);
	for (size_t i = 0; i < m->nchanges; i++)
		write_row(s, p, &m->changes[i]);
	html_table_end(s);
}
