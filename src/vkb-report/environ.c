#include "html.h"
#include "json.h"
#include "markup.h"
#include "mem.h"
#include "model.h"
#include "intern.h"
#include "page.h"
#include "str.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

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
	const struct json *j = json_first(json_get(p->rec, "env"));
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

void
page_environment(struct str *s, const struct page *p)
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
