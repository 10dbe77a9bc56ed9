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
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct function {
	const char *name;
	double self, total; /* shares; of the baseline if there are two sides */
	double self_b, total_b;
	double p;         /* of 'self', adjusted; NAN: not tested */
	double key, next; /* sort keys */
};

static bool
is_recursive(const struct calltree *t, uint32_t node)
{
	for (uint32_t i = t->parent[node]; i; i = t->parent[i])
		if (t->frame[i] == t->frame[node])
			return true;
	return false;
}

/* Returns the weight of each frame itself, in one column; the caller frees. */
static double *
sum_self(const struct calltree *t, size_t column)
{
	double *v = mem_array(intern_count(t->names), sizeof *v);

	for (uint32_t i = 1; i < t->n; i++)
		v[t->frame[i]] += t->self[column][i];
	return v;
}

static double *
sum_total(const struct calltree *t, size_t column)
{
	double *v = mem_array(intern_count(t->names), sizeof *v);

	for (uint32_t i = 1; i < t->n; i++)
		if (t->total[column][i] != 0 && !is_recursive(t, i))
			v[t->frame[i]] += t->total[column][i];
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
	char s[32];

	snprintf(s, sizeof s, "%.2f%%", 100 * share);
	table_cell(t, s);
}

void
functions_table(struct str *to, const struct calltree *t, double min_share)
{
	size_t n = intern_count(t->names);
	struct function *v = mem_array(n, sizeof *v);
	double *self = sum_self(t, 0), *total = sum_total(t, 0);
	double all = t->total[0][0];
	struct table *out = table_new();

	for (size_t i = 0; i < n; i++) {
		v[i].name = intern_text(t->names, i);
		v[i].self = all > 0 ? self[i] / all : 0;
		v[i].total = all > 0 ? total[i] / all : 0;
		v[i].key = v[i].self;
		v[i].next = v[i].total;
	}
	qsort(v, n, sizeof *v, compare_by_key);
	table_column(out, "itself", TABLE_RIGHT);
	table_column(out, "with callees", TABLE_RIGHT);
	table_column(out, "function", TABLE_LEFT);
	for (size_t i = 0; i < n; i++) {
		if (fmax(v[i].self, v[i].total) < min_share)
			continue;
		add_percent(out, v[i].self);
		add_percent(out, v[i].total);
		table_cell(out, v[i].name);
	}
	table_print(out, to, false);
	table_free(out);
	free(self);
	free(total);
	free(v);
}

/* --- two sides */

static const char *
describe_change(const struct function *f)
{
	if (f->total == 0 && f->self == 0)
		return "new";
	if (f->total_b == 0 && f->self_b == 0)
		return "vanished";
	if (isnan(f->p))
		return "too few samples";
	if (!(f->p < DIFF_ALPHA))
		return "not significant";
	return f->self_b > f->self ? "gained" : "lost";
}

static void
add_change(struct table *t, const struct function *f)
{
	char s[32];

	snprintf(s, sizeof s, "%+.2f", 100 * (f->self_b - f->self));
	table_cell(t, s);
	snprintf(s, sizeof s, "%.2g", f->p);
	table_cell(t, isnan(f->p) ? "-" : s);
}

/* Adds the shares of all functions in the profiles from..to. */
static void
add_shares(const struct calltree *t, size_t from, size_t to, struct function *v,
    bool after)
{
	size_t n = intern_count(t->names);
	double all = 0;

	for (size_t k = from; k < to; k++)
		all += t->total[2 * k][0];
	for (size_t k = from; all > 0 && k < to; k++) {
		double *self = sum_self(t, 2 * k), *total = sum_total(t, 2 * k);

		for (size_t i = 0; i < n; i++) {
			*(after ? &v[i].self_b : &v[i].self) += self[i] / all;
			*(after ? &v[i].total_b : &v[i].total) +=
			    total[i] / all;
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
		samples[k] = sum_self(t, 2 * k + 1);
		whole[k] = t->total[2 * k + 1][0];
	}
	for (size_t i = 0; i < names; i++) {
		for (size_t k = 0; k < n; k++)
			part[k] = samples[k][i];
		p[i] = diff_p(part, whole, na, n);
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

void
functions_diff(struct str *to, const struct calltree *t, size_t na, size_t n,
    double min_share)
{
	size_t names = intern_count(t->names);
	struct function *v = mem_array(names, sizeof *v);
	struct table *out = table_new();

	for (size_t i = 0; i < names; i++)
		v[i].name = intern_text(t->names, i);
	add_shares(t, 0, na, v, false);
	add_shares(t, na, n, v, true);
	test_functions(t, na, n, v);
	for (size_t i = 0; i < names; i++) {
		v[i].key = fabs(v[i].self_b - v[i].self);
		v[i].next = fabs(v[i].total_b - v[i].total);
	}
	qsort(v, names, sizeof *v, compare_by_key);
	table_column(out, "before", TABLE_RIGHT);
	table_column(out, "after", TABLE_RIGHT);
	table_column(out, "change", TABLE_RIGHT);
	table_column(out, "p", TABLE_RIGHT);
	table_column(out, "", TABLE_LEFT);
	table_column(out, "with callees", TABLE_RIGHT);
	table_column(out, "after", TABLE_RIGHT);
	table_column(out, "function", TABLE_LEFT);
	for (size_t i = 0; i < names; i++) {
		if (fmax(fmax(v[i].total, v[i].total_b),
			fmax(v[i].self, v[i].self_b)) < min_share)
			continue;
		add_percent(out, v[i].self);
		add_percent(out, v[i].self_b);
		add_change(out, &v[i]);
		table_cell(out, describe_change(&v[i]));
		add_percent(out, v[i].total);
		add_percent(out, v[i].total_b);
		table_cell(out, v[i].name);
	}
	table_print(out, to, false);
	table_free(out);
	free(v);
}
