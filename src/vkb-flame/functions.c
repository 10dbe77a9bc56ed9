#include "functions.h"
#include "calltree.h"
#include "diff.h"
#include "mem.h"
#include "intern.h"
#include "str.h"
#include "table.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct function {
	const char *name;
	double self[2], total[2]; /* shares of each side */
	double p;                 /* of 'self', adjusted; NAN: not tested */
	double key, next;         /* sort keys */
};

static bool
is_recursive(const struct calltree *t, uint32_t node)
{
	for (uint32_t i = t->parent[node]; i; i = t->parent[i])
		if (t->frame[i] == t->frame[node])
			return true;
	return false;
}

/* Returns the weight of each frame, itself or with its callees, in one column;
 * the caller frees. */
static double *
sum_frames(const struct calltree *t, size_t column, bool callees)
{
	double *v = mem_array(intern_count(t->names), sizeof *v);
	const double *w = callees ? t->total[column] : t->self[column];

	for (uint32_t i = 1; i < t->n; i++)
		if (w[i] != 0 && !(callees && is_recursive(t, i)))
			v[t->frame[i]] += w[i];
	return v;
}

static int
compare_by_key(const void *a, const void *b)
{
	const struct function *f = a, *g = b;

	if (f->key != g->key)
		return f->key < g->key ? 1 : -1;
	if (f->next != g->next)
		return f->next < g->next ? 1 : -1;
	return strcmp(f->name, g->name);
}

static void
add_percent(struct table *t, double share)
{
	table_take(t, mem_printf("%.2f%%", 100 * share));
}

static const char *
describe_change(const struct function *f)
{
	if (f->total[0] == 0 && f->self[0] == 0)
		return "new";
	if (f->total[1] == 0 && f->self[1] == 0)
		return "vanished";
	if (isnan(f->p))
		return "too few samples";
	if (!(f->p < DIFF_ALPHA))
		return "not significant";
	return f->self[1] > f->self[0] ? "gained" : "lost";
}

/* Adds the shares of all functions in the profiles from..to. A profile has one
 * column, or two if there are two sides. */
static void
add_shares(const struct calltree *t, size_t from, size_t to, struct function *v,
    int side)
{
	size_t n = intern_count(t->names), step = t->columns > 1 ? 2 : 1;
	double all = 0;

	for (size_t k = from; k < to; k++)
		all += t->total[step * k][0];
	for (size_t k = from; all > 0 && k < to; k++) {
		double *self = sum_frames(t, step * k, false);
		double *total = sum_frames(t, step * k, true);

		for (size_t i = 0; i < n; i++) {
			v[i].self[side] += self[i] / all;
			v[i].total[side] += total[i] / all;
		}
		free(self);
		free(total);
	}
}

static void
test_functions(
    const struct calltree *t, size_t na, size_t n, struct function *v)
{
	size_t names = intern_count(t->names);
	double **samples = mem_array(n, sizeof *samples);
	double *part = mem_array(n, sizeof *part);
	double *whole = mem_array(n, sizeof *whole);
	double *p = mem_array(names, sizeof *p);

	for (size_t k = 0; k < n; k++) {
		samples[k] = sum_frames(t, 2 * k + 1, false);
		whole[k] = t->total[2 * k + 1][0];
	}
	for (size_t i = 0; i < names; i++) {
		for (size_t k = 0; k < n; k++)
			part[k] = samples[k][i];
		p[i] = diff_test(part, whole, na, n);
	}
	diff_adjust(p, names);
	for (size_t i = 0; i < names; i++)
		v[i].p = p[i];
	for (size_t k = 0; k < n; k++)
		free(samples[k]);
	free(samples);
	free(part);
	free(whole);
	free(p);
}

static void
add_row(struct table *out, const struct function *f, bool two)
{
	add_percent(out, f->self[0]);
	if (two) {
		add_percent(out, f->self[1]);
		table_take(
		    out, mem_printf("%+.2f", 100 * (f->self[1] - f->self[0])));
		table_take(
		    out, isnan(f->p) ? mem_str("-") : mem_printf("%.2g", f->p));
		table_cell(out, describe_change(f));
	}
	add_percent(out, f->total[0]);
	if (two)
		add_percent(out, f->total[1]);
	table_cell(out, f->name);
}

void
functions_write(struct str *to, const struct calltree *t, size_t na, size_t n,
    double min_share)
{
	size_t names = intern_count(t->names);
	struct function *v = mem_array(names, sizeof *v);
	struct table *out = table_new();

	add_shares(t, 0, na ? na : 1, v, 0);
	if (na) {
		add_shares(t, na, n, v, 1);
		test_functions(t, na, n, v);
	}
	for (size_t i = 0; i < names; i++) {
		v[i].name = intern_text(t->names, i);
		v[i].key = fabs(v[i].self[1] - v[i].self[0]);
		v[i].next = fabs(v[i].total[1] - v[i].total[0]);
	}
	qsort(v, names, sizeof *v, compare_by_key);
	table_titles(out,
	    na ? ">before|>after|>change|>p||>with callees|>after|function"
	       : ">itself|>with callees|function");
	for (size_t i = 0; i < names; i++)
		if (fmax(fmax(v[i].total[0], v[i].total[1]),
			fmax(v[i].self[0], v[i].self[1])) >= min_share)
			add_row(out, &v[i], na > 0);
	table_print(out, to, false);
	table_free(out);
	free(v);
}
