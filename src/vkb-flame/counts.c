#include "counts.h"
#include "callgraph.h"
#include "causes.h"
#include "mem.h"
#include "num.h"
#include "str.h"
#include "table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Counts by request have four decimals: 10,000 requests are counted. */
struct writing {
	struct str *to;
	int decimals;
	double least; /* omit what is less */
};

static char *
format_count(const struct writing *w, double v)
{
	return mem_printf("%.*f", w->decimals, v);
}

static char *
format_change(const struct writing *w, double v)
{
	return mem_printf("%+.*f", w->decimals, v);
}

/* --- one profile */

/* A file of callgrind may count nothing but zeros. */
static char *
format_share(double v, double total)
{
	return mem_printf("%.2f%%", total > 0 ? 100 * v / total : 0);
}

static int
compare_self(const void *a, const void *b)
{
	const struct cause_function *x = a, *y = b;

	if (x->self[1] != y->self[1])
		return x->self[1] < y->self[1] ? 1 : -1;
	return strcmp(x->name, y->name);
}

static void
write_profile(struct writing *w, const struct callgraph *g)
{
	struct callgraph none = {0};
	struct causes *c = causes_find(&none, g);
	struct table *t = table_new();
	double rest = 0;
	size_t n = 0;

	qsort(c->functions, c->nfunctions, sizeof *c->functions, compare_self);
	str_printf(w->to, "%s%s%.*f %s\n\n", g->name, *g->name ? ": " : "",
	    w->decimals, g->total, g->unit);
	table_titles(t, ">self|>|>calls|function");
	for (size_t i = 0; i < c->nfunctions; i++) {
		const struct cause_function *f = &c->functions[i];

		if (f->self[1] < w->least) {
			rest += f->self[1];
			n++;
			continue;
		}
		table_take(t, format_count(w, f->self[1]));
		table_take(t, format_share(f->self[1], g->total));
		table_take(t, format_count(w, f->calls[1]));
		table_cell(t, f->name);
	}
	if (n) {
		table_take(t, format_count(w, rest));
		table_take(t, format_share(rest, g->total));
		table_cell(t, "");
		table_take(
		    t, mem_printf("%zu other%s", n, num_plural((double)n)));
	}
	table_print(t, w->to, false);
	table_free(t);
	causes_free(c);
}

/* --- the difference of two */

static char *
describe_cause(const struct causes *c, const struct cause *v)
{
	const struct cause_function *f = c->functions;

	if (v->from == CAUSES_NONE)
		return mem_printf("%s: what calls it was%s counted",
		    f[v->to].name, v->times[1] > 0 ? " not" : "");
	if (f[v->from].unnamed)
		return mem_printf("%s: functions without a name, and how often "
				  "they call others",
		    f[v->from].name);
	if (v->to != CAUSES_NONE)
		return mem_printf("%s calls %s: %.6g time%s, not %.6g",
		    f[v->from].name, f[v->to].name, v->times[1],
		    num_plural(v->times[1]), v->times[0]);
	return mem_printf("%s itself: %.6g, not %.6g", f[v->from].name,
	    v->times[1], v->times[0]);
}

/* The last cell of the row that sums up what is too small for a separate row.
 */
static char *
count_smaller(size_t n)
{
	return mem_printf("%zu smaller one%s", n, num_plural((double)n));
}

static void
write_causes(struct writing *w, const struct causes *c)
{
	struct table *t = table_new();
	double rest = 0;
	size_t n = 0;

	table_titles(
	    t, ">change|cause (numbers in each call of the first function)");
	for (size_t i = 0; i < c->n; i++) {
		const struct cause *v = &c->v[i];

		if (fabs(v->change) < w->least) {
			rest += v->change;
			n++;
			continue;
		}
		table_take(t, format_change(w, v->change));
		table_take(t, describe_cause(c, v));
	}
	if (n) {
		table_take(t, format_change(w, rest));
		table_take(t, count_smaller(n));
	}
	table_print(t, w->to, false);
	table_free(t);
}

static double
find_change(const struct cause_function *f)
{
	return f->self[1] - f->self[0];
}

static int
compare_change(const void *a, const void *b)
{
	const struct cause_function *x = a, *y = b;
	double u = fabs(find_change(x)), v = fabs(find_change(y));

	if (u != v)
		return u < v ? 1 : -1;
	return strcmp(x->name, y->name);
}

/* Sorts the functions, to which the causes then no longer point. */
static void
write_functions(struct writing *w, struct causes *c)
{
	struct table *t = table_new();
	double rest = 0;
	size_t n = 0;

	qsort(
	    c->functions, c->nfunctions, sizeof *c->functions, compare_change);
	table_titles(t, ">self|>after|>change|>calls|>after|function");
	for (size_t i = 0; i < c->nfunctions; i++) {
		const struct cause_function *f = &c->functions[i];

		if (fabs(find_change(f)) < w->least) {
			rest += find_change(f);
			n += find_change(f) != 0;
			continue;
		}
		for (int k = 0; k < 2; k++)
			table_take(t, format_count(w, f->self[k]));
		table_take(t, format_change(w, find_change(f)));
		for (int k = 0; k < 2; k++)
			table_take(t, format_count(w, f->calls[k]));
		table_cell(t, f->name);
	}
	if (n) {
		table_cell(t, "");
		table_cell(t, "");
		table_take(t, format_change(w, rest));
		table_cell(t, "");
		table_cell(t, "");
		table_take(t, count_smaller(n));
	}
	table_print(t, w->to, false);
	table_free(t);
}

static void
write_difference(
    struct writing *w, const struct callgraph *a, const struct callgraph *b)
{
	struct causes *c = causes_find(a, b);
	double change = b->total - a->total;

	str_printf(w->to, "%s%s%.*f -> %.*f %s, %+.*f", b->name,
	    *b->name ? ": " : "", w->decimals, a->total, w->decimals, b->total,
	    b->unit, w->decimals, change);
	if (a->total > 0)
		str_printf(w->to, " (%+.2f%%)", 100 * change / a->total);
	str_addc(w->to, '\n');
	if (c->n) {
		str_addc(w->to, '\n');
		write_causes(w, c);
		str_addc(w->to, '\n');
		write_functions(w, c);
	}
	causes_free(c);
}

void
counts_write(struct str *to, const struct callgraphs *before,
    const struct callgraphs *after, double min_share)
{
	for (size_t i = 0; i < after->n; i++) {
		const struct callgraph *b = &after->v[i], *a = NULL;
		struct writing w = {.to = to,
		    .decimals = b->per_request ? 4 : 0,
		    .least = min_share * b->total};

		if (i)
			str_addc(to, '\n');
		if (before)
			a = callgraph_find(before, b->name);
		if (a)
			write_difference(&w, a, b);
		else
			write_profile(&w, b);
	}
}
