#include "functions.h"
#include "calltree.h"
#include "diff.h"
#include "mem.h"
#include "intern.h"
#include "str.h"
#include "table.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static bool
is_recursive(const struct calltree *t, uint32_t node)
{
	for (uint32_t i = t->parent[node]; i; i = t->parent[i])
		if (t->frame[i] == t->frame[node])
			return true;
	return false;
}

static double
get_total(const struct functions_of *f, uint32_t node, int side)
{
	if (!f->diff)
		return side ? f->tree->total[0][node] : 0;
	return side ? f->diff->v[node].b : f->diff->v[node].a;
}

static double
get_self(const struct functions_of *f, uint32_t node, int side)
{
	if (!f->diff)
		return side ? f->tree->self[0][node] : 0;
	return f->diff->self[side][node];
}

/* Returns what 'self' is divided by to have the unit of the result. */
static double
find_scale(const struct functions_of *f, int side)
{
	double all = 0;

	for (uint32_t i = 0; !f->unit && i < f->tree->n; i++)
		all += get_self(f, i, side);
	return all > 0 ? all : 1;
}

static void
add_sums(const struct functions_of *f, struct function *v)
{
	const struct calltree *t = f->tree;

	for (int side = 0; side < 2; side++) {
		double self = find_scale(f, side), total = f->diff ? 1 : self;

		for (uint32_t i = 1; i < t->n; i++) {
			struct function *one = &v[t->frame[i]];

			one->self[side] += get_self(f, i, side) / self;
			if (get_total(f, i, side) != 0 && !is_recursive(t, i))
				one->total[side] +=
				    get_total(f, i, side) / total;
		}
	}
}

/* Sets the p of each function from its samples in each profile. */
static void
test_totals(const struct functions_of *f, struct function *v, size_t names)
{
	const struct calltree *t = f->tree;
	double *samples = mem_array(names * f->n + 1, sizeof *samples);
	double *whole = mem_array(f->n + 1, sizeof *whole);
	double *p = mem_array(names + 1, sizeof *p);

	for (size_t k = 0; k < f->n; k++) {
		const double *w = t->total[2 * k + 1];

		whole[k] = w[0];
		for (uint32_t i = 1; i < t->n; i++)
			if (w[i] != 0 && !is_recursive(t, i))
				samples[t->frame[i] * f->n + k] += w[i];
	}
	for (size_t i = 0; i < names; i++)
		p[i] = diff_test(samples + i * f->n, whole, f->na, f->n);
	diff_adjust(p, names);
	for (size_t i = 0; i < names; i++)
		v[i].p = p[i];
	free(samples);
	free(whole);
	free(p);
}

static int
compare_numbers(double x, double y)
{
	return (x < y) - (x > y);
}

static int
compare_functions(const void *a, const void *b)
{
	const struct function *x = a, *y = b;
	int c = compare_numbers(
	    fabs(x->total[1] - x->total[0]), fabs(y->total[1] - y->total[0]));

	if (!c)
		c = compare_numbers(fabs(x->self[1] - x->self[0]),
		    fabs(y->self[1] - y->self[0]));
	if (!c)
		c = compare_numbers(x->total[1], y->total[1]);
	return c ? c : strcmp(x->name, y->name);
}

static int
compare_self(const void *a, const void *b)
{
	const struct function *x = a, *y = b;
	int c = compare_numbers(x->self[1], y->self[1]);

	return c ? c : compare_functions(a, b);
}

struct function *
functions_list(const struct functions_of *f, size_t *count)
{
	size_t names = intern_count(f->tree->names), n = 0;
	struct function *v = mem_array(names + 1, sizeof *v);
	double least = f->min_share;

	add_sums(f, v);
	if (f->unit)
		least *= fmax(get_total(f, 0, 0), get_total(f, 0, 1));
	if (f->diff && !f->unit)
		test_totals(f, v, names);
	for (size_t i = 0; i < names; i++) {
		double most = fmax(v[i].total[0], v[i].total[1]);

		if (!(most > 0) || most < least)
			continue;
		v[n] = v[i];
		v[n].p = f->diff && !f->unit ? v[i].p : NAN;
		v[n++].name = intern_text(f->tree->names, i);
	}
	qsort(v, n, sizeof *v, f->diff ? compare_functions : compare_self);
	*count = n;
	return v;
}

const char *
functions_describe(const struct functions_of *f, const struct function *v)
{
	double change = v->total[1] - v->total[0];

	if (v->total[0] == 0)
		return "new";
	if (v->total[1] == 0)
		return "vanished";
	if (f->unit && change == 0)
		return "same";
	if (!f->unit && isnan(v->p))
		return "too few samples";
	if (!f->unit && !(v->p < DIFF_ALPHA))
		return "not significant";
	return change > 0 ? "gained" : "lost";
}

static void
add_percent(struct table *t, double share)
{
	table_take(t, mem_printf("%.2f%%", 100 * share));
}

static void
add_difference(struct table *t, const double v[2])
{
	add_percent(t, v[0]);
	add_percent(t, v[1]);
	table_take(t, mem_printf("%+.2f", 100 * (v[1] - v[0])));
}

static void
add_row(struct table *t, const struct functions_of *f, const struct function *v)
{
	if (f->diff) {
		add_difference(t, v->total);
		table_take(
		    t, isnan(v->p) ? mem_str("-") : mem_printf("%.2g", v->p));
		table_cell(t, functions_describe(f, v));
		add_difference(t, v->self);
	} else {
		add_percent(t, v->self[1]);
		add_percent(t, v->total[1]);
	}
	table_cell(t, v->name);
}

void
functions_write(struct str *to, const struct functions_of *f)
{
	struct table *t = table_new();
	size_t n;
	struct function *v = functions_list(f, &n);

	table_titles(t,
	    f->diff ? ">total|>after|>change|>p||>self|>after|>change|function"
		    : ">self|>total|function");
	for (size_t i = 0; i < n; i++)
		add_row(t, f, &v[i]);
	table_print(t, to, false);
	table_free(t);
	free(v);
}
