#include "casename.h"
#include "html.h"
#include "json.h"
#include "mem.h"
#include "model.h"
#include "page.h"
#include "str.h"

#include <stdbool.h>
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

/* Returns the names of cases, which are not among those of the model. */
static struct casename *
name_unmatched(const struct model *m, const struct json *unmatched)
{
	const struct json *j = json_first(unmatched), **v;
	struct casename *names;
	size_t n = 0;

	v = mem_array(m->ncases + json_len(unmatched) + 1, sizeof *v);
	for (; n < m->ncases; n++)
		v[n] = m->cases[n]->config;
	for (; j; j = json_next(j))
		if (json_type(json_get(j, "config")) == JSON_OBJECT)
			v[n++] = json_get(j, "config");
	names = casename_new(v, n);
	free(v);
	return names;
}

/* Writes the cases that a comparison found on one side only. */
static void
write_unmatched(struct str *s, const struct page *p, const struct pair *pair)
{
	static const char about[] = "Cases on one side only";
	const struct json *all = json_get(pair->rec, "unmatched");
	const struct json *j = json_first(all);
	struct casename *names;

	if (!j)
		return;
	names = name_unmatched(p->m, all);
	html_table(s, about, about, "case|subject|>runs|side", NULL, 0);
	for (; j; j = json_next(j)) {
		const struct json *config = json_get(j, "config");
		const char *side = json_get_str(j, "side");
		bool contender = side && strcmp(side, "contender") == 0;
		char *name = json_type(config) == JSON_OBJECT
		    ? casename_of(names, config)
		    : mem_str("-");

		html_row(s, name);
		page_subject_cell(
		    s, p, contender ? pair->contender : pair->base);
		str_printf(
		    s, "<td class=\"n\">%.0f</td>", json_get_num(j, "n", 0));
		html_tag(s, "td", NULL, contender ? "contender" : "baseline");
		str_add(s, "</tr>\n");
		free(name);
	}
	html_table_end(s);
	casename_free(names);
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
	for (size_t i = 0; i < m->npairs; i++)
		write_unmatched(s, p, &m->pairs[i]);
}
