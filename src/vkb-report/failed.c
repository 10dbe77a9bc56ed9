#include "html.h"
#include "json.h"
#include "model.h"
#include "page.h"
#include "str.h"

#include <stdlib.h>
#include <string.h>

enum { ERRORS = 5, ROWS = 500 };

static void
write_errors(struct str *s, const struct json *all)
{
	const struct json *j = json_first(all);

	str_add(s, "<td>");
	for (size_t i = 0; j && i < ERRORS; i++, j = json_next(j)) {
		str_add(s, i ? "<br>" : "");
		html_value(s, j);
	}
	if (j)
		str_printf(s, "<br>and %zu more", json_len(all) - ERRORS);
	str_add(s, "</td>");
}

static void
write_failed_cell(struct str *s, const struct page *p, const struct cell *c)
{
	html_row(s, c->kase->name);
	page_subject_cell(s, p, c->subject);
	str_printf(s, "<td class=\"n\">%.0f of %.0f</td>",
	    json_get_num(c->rec, "failed", 0),
	    json_get_num(c->rec, "failed", 0) + json_get_num(c->rec, "n", 0));
	write_errors(s, json_get(c->rec, "errors"));
	str_add(s, "</tr>\n");
}

/* Writes the cases that a comparison found on one side only. */
static void
write_unmatched(struct str *s, const struct page *p, const struct json *rec)
{
	static const char about[] = "Cases on one side only";
	const struct json *j = json_first(json_get(rec, "unmatched"));

	if (!j)
		return;
	html_table(s, about, about, "case|subject|>runs|side", NULL, 0);
	for (; j; j = json_next(j)) {
		const char *named = json_get_str(j, "side");
		const char *side = named && strcmp(named, "contender") == 0
		    ? "contender"
		    : "baseline"; /* also the key in the record */
		char *text = json_print(json_get(j, "config"));

		html_row(s, text ? text : "");
		page_subject_cell(
		    s, p, model_subject(p->m, json_get(rec, side)));
		str_printf(
		    s, "<td class=\"n\">%.0f</td>", json_get_num(j, "n", 0));
		html_tag(s, "td", NULL, side);
		str_add(s, "</tr>\n");
		free(text);
	}
	html_table_end(s);
}

void
page_failed(struct str *s, const struct page *p)
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
			if (n <= ROWS)
				write_failed_cell(s, p, c);
		}
	if (n)
		html_table_end(s);
	if (n > ROWS)
		str_printf(s, "<p>and %zu more</p>\n", n - ROWS);
	for (size_t i = 0; i < m->comparisons.n; i++)
		write_unmatched(s, p, m->comparisons.v[i]);
}
