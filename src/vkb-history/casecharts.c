#include "casecharts.h"
#include "changegroup.h"
#include "chart.h"
#include "html.h"
#include "index.h"
#include "machines.h"
#include "markup.h"
#include "mem.h"
#include "metric.h"
#include "num.h"
#include "str.h"
#include "trends.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { CASES = 100 }; /* that are shown; the others are folded */

struct item { /* a case to show */
	size_t kase;
	const struct trend_series *first; /* NULL if nothing was measured */
	enum changegroup_state state;     /* of its worst change */
	const char *name;
};

static int
compare_items(const void *a, const void *b)
{
	const struct item *x = a, *y = b;

	if (x->state != y->state)
		return x->state < y->state ? -1 : 1;
	return strcmp(x->name, y->name);
}

static enum changegroup_state
find_worst(const struct index *x, size_t kase)
{
	enum changegroup_state worst = CHANGEGROUP_SPIKE;

	for (size_t i = 0; i < x->changes->n; i++) {
		const struct changegroup *g = &x->changes->v[i];

		for (size_t k = 0; k < g->n && g->state < worst; k++)
			if (g->v[k].kase == kase)
				worst = g->state;
	}
	return worst;
}

/* Returns the series of the primary metric, or if that was not measured, that
 * of the counted instructions or the first of the case; NULL if there is none.
 */
static const struct trend_series *
find_first(const struct trends *t, size_t kase)
{
	const struct trend_series *first = NULL;

	for (size_t i = 0; i < t->nseries; i++) {
		const struct trend_series *s = &t->v[i];

		if (s->kase != kase)
			continue;
		if (strcmp(s->metric, t->cases[kase].primary) == 0)
			return s;
		if (!first || strcmp(s->metric, "instructions_per_req") == 0)
			first = s;
	}
	return first;
}

static void
write_chart(struct str *s, const struct index *x,
    const struct trend_series *series, const char *name)
{
	const struct metric m = metric_guess(series->metric);
	struct str metric = {0};
	char buf[NUM_BUF];

	metric_write_label(&metric, series->metric);
	if (name)
		html_tag(s, "b", NULL, name);
	markup_printf(s, " <span class=\"quiet\">%s %s %s", metric.s,
	    num_human(buf, chart_find_last(x->trends, series)), m.unit);
	if (machines_count(x->trends->machines) > 1)
		markup_printf(s, " on %s",
		    machines_name(x->trends->machines, series->machine));
	str_add(s, "</span>");
	str_free(&metric);
}

static void
write_next_chart(
    struct str *s, const struct index *x, const struct trend_series *series)
{
	str_add(s, "<p>");
	write_chart(s, x, series, NULL);
	str_add(s, "</p>\n");
	chart_write(s, x->trends, series, x->changes);
}

/* Are both of one case and metric, of different machines? */
static bool
is_same_metric(const struct trend_series *a, const struct trend_series *b)
{
	return a->kase == b->kase && strcmp(a->metric, b->metric) == 0;
}

/* The chart of the first metric of each machine, then the others, folded. */
static void
write_case(struct str *s, const struct index *x, const struct item *item)
{
	const struct trends *t = x->trends;
	bool folded = false;

	str_printf(s, "<figure id=\"case-%zu\"><figcaption>", item->kase + 1);
	write_chart(s, x, item->first, item->name);
	str_add(s, "</figcaption>\n");
	chart_write(s, t, item->first, x->changes);
	for (size_t i = 0; i < t->nseries; i++) {
		const struct trend_series *o = &t->v[i];

		if (o != item->first && is_same_metric(o, item->first))
			write_next_chart(s, x, o);
	}
	for (size_t i = 0; i < t->nseries; i++) {
		const struct trend_series *o = &t->v[i];

		if (o->kase != item->kase || is_same_metric(o, item->first))
			continue;
		if (!folded)
			str_add(
			    s, "<details><summary>other metrics</summary>\n");
		folded = true;
		write_next_chart(s, x, o);
	}
	str_add(s, folded ? "</details></figure>\n" : "</figure>\n");
}

void
casecharts_write(struct str *s, const struct index *x)
{
	const struct trends *t = x->trends;
	struct item *v = mem_array(t->ncases + 1, sizeof *v);
	size_t n = 0;

	for (size_t i = 0; i < t->ncases; i++) {
		v[n] = (struct item){
		    i, find_first(t, i), find_worst(x, i), t->cases[i].name};
		n += v[n].first != NULL;
	}
	if (n) {
		qsort(v, n, sizeof *v, compare_items);
		str_add(s,
		    "<h2>Cases</h2>\n<div class=\"controls\" role=\"search\" "
		    "aria-label=\"Cases\" hidden><label>Case <input "
		    "type=\"search\" "
		    "id=\"find-case\" autocomplete=\"off\" "
		    "spellcheck=\"false\"></label> <output "
		    "id=\"found-cases\"></output></div>\n");
		chart_write_columns(s, t);
		str_add(s, "<div class=\"cases\">\n");
	}
	for (size_t i = 0; i < n; i++) {
		if (i == CASES)
			str_printf(s,
			    "</div><details><summary>%zu more cases"
			    "</summary><div class=\"cases\">\n",
			    n - CASES);
		write_case(s, x, &v[i]);
	}
	if (n)
		str_add(s, n > CASES ? "</div></details>\n" : "</div>\n");
	free(v);
}
