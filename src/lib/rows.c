#include "rows.h"
#include "intern.h"
#include "mem.h"
#include "str.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

void
rows_free(struct rows *r)
{
	free(r->cols);
	free(r->v);
	free(r->runs);
	*r = (struct rows){0};
}

void
rows_add(struct rows *r, struct rows_run run)
{
	size_t i = r->n;

	if (i == r->cap) {
		r->cap += r->cap / 2 + 4; /* many groups have few runs */
		r->runs = mem_resize(r->runs, r->cap, sizeof *r->runs);
		r->v = mem_resize(r->v, r->cap * r->width, sizeof *r->v);
	}
	r->runs[i] = run;
	for (size_t c = 0; c < r->ncols; c++)
		r->v[i * r->width + c] = NAN;
	r->n++;
}

static bool
has_column_name(const struct rows_column *c, const char *name, size_t len)
{
	return c->len == len && memcmp(c->name, name, len) == 0;
}

/* Adds a column without values. */
static void
add_column(struct rows *r, struct intern *names, const char *name, size_t len)
{
	size_t width = r->ncols + 1 + r->ncols / 8;
	size_t id = intern_idn(names, name, len);
	double *v;

	if (r->ncols == r->width) {
		v = mem_resize(NULL, r->cap * width, sizeof *v);
		for (size_t i = 0; i < r->n; i++)
			memcpy(v + i * width, r->v + i * r->width,
			    r->width * sizeof *v);
		free(r->v);
		r->v = v;
		r->width = width;
	}
	for (size_t i = 0; i < r->n; i++)
		r->v[i * r->width + r->ncols] = NAN;
	r->cols = mem_resize(r->cols, r->ncols + 1, sizeof *r->cols);
	r->cols[r->ncols] =
	    (struct rows_column){intern_text(names, id), len, r->ncols};
	r->ncols++;
}

void
rows_set(struct rows *r, struct intern *names, const char *name, size_t len,
    double v, size_t *at)
{
	size_t last = r->n - 1, i = *at;

	if (i >= r->ncols || !has_column_name(&r->cols[i], name, len))
		for (i = 0; i < r->ncols; i++)
			if (has_column_name(&r->cols[i], name, len))
				break;
	if (i == r->ncols)
		add_column(r, names, name, len);
	r->v[last * r->width + r->cols[i].id] = v;
	*at = i + 1;
}

size_t
rows_find(const struct rows *r, const char *name)
{
	size_t c = 0;

	while (c < r->ncols && strcmp(r->cols[c].name, name) != 0)
		c++;
	return c;
}

void
rows_values(const struct rows *r, size_t col, double *v)
{
	for (size_t i = 0; i < r->n; i++)
		v[i] = r->v[i * r->width + r->cols[col].id];
}

double *
rows_value(const struct rows *r, size_t row, size_t col)
{
	return &r->v[row * r->width + r->cols[col].id];
}

void
rows_drop_empty(struct rows *r)
{
	size_t kept = 0;

	for (size_t i = 0; i < r->ncols; i++) {
		size_t row = 0;

		while (row < r->n && isnan(*rows_value(r, row, i)))
			row++;
		if (row < r->n)
			r->cols[kept++] = r->cols[i];
	}
	r->ncols = kept;
}

struct order {
	const struct rows_run *runs;
	const uint32_t *rank;
	const double *v;
};

static int
compare_u32(uint32_t a, uint32_t b)
{
	return (a > b) - (a < b);
}

static uint32_t
get_session_rank(const struct order *o, uint32_t i)
{
	uint32_t id = o->runs[i].session;

	return id == ROWS_UNKNOWN ? id : o->rank[id];
}

static int
compare_runs(const void *a, const void *b, void *arg)
{
	uint32_t i = *(const uint32_t *)a, k = *(const uint32_t *)b;
	const struct order *o = arg;
	const struct rows_run *x = &o->runs[i], *y = &o->runs[k];
	int c = compare_u32(get_session_rank(o, i), get_session_rank(o, k));

	c = c ? c : compare_u32(x->block, y->block);
	c = c ? c : compare_u32(x->index, y->index);
	return c ? c : compare_u32(x->order, y->order);
}

static int
compare_column_values(const void *a, const void *b, void *arg)
{
	const struct order *o = arg;
	double p = o->v[*(const uint32_t *)a], q = o->v[*(const uint32_t *)b];
	int c = isnan(p) - isnan(q);

	return c ? c : (p > q) - (p < q);
}

/* The rows at[from..to) are equal in all that was compared so far. */
struct tie {
	size_t from, to;
};

/* Adds the ties of at[from..to), which is sorted by 'cmp'. */
static void
add_ties(struct tie **t, size_t *n, size_t *cap, const uint32_t *at,
    size_t from, size_t to, int (*cmp)(const void *, const void *, void *),
    struct order *o)
{
	for (size_t i = from, k; i < to; i = k) {
		for (k = i + 1; k < to; k++)
			if (cmp(&at[i], &at[k], o) != 0)
				break;
		if (k - i < 2)
			continue;
		*MEM_ADD(*t, *n, *cap) = (struct tie){i, k};
	}
}

/* Orders rows that differ in their values only; few do. */
static void
break_ties(const struct rows *r, struct order *o, uint32_t *at)
{
	struct tie *t = NULL, *left;
	size_t n = 0, cap = 0, nleft, leftcap;
	double *v = NULL;

	add_ties(&t, &n, &cap, at, 0, r->n, compare_runs, o);
	for (size_t c = 0; c < r->ncols && n; c++) {
		v = v ? v : mem_array(r->n, sizeof *v);
		rows_values(r, c, v);
		o->v = v;
		left = NULL;
		nleft = leftcap = 0;
		for (size_t i = 0; i < n; i++) {
			qsort_r(at + t[i].from, t[i].to - t[i].from, sizeof *at,
			    compare_column_values, o);
			add_ties(&left, &nleft, &leftcap, at, t[i].from,
			    t[i].to, compare_column_values, o);
		}
		free(t);
		t = left;
		n = nleft;
	}
	free(t);
	free(v);
}

/* Are the rows in the order in which they ran? This is the usual case. */
static bool
is_in_run_order(const uint32_t *at, size_t n, struct order *o)
{
	for (size_t i = 1; i < n; i++)
		if (compare_runs(&at[i - 1], &at[i], o) > 0)
			return false;
	return true;
}

uint32_t *
rows_order(struct rows *r, const uint32_t *rank)
{
	uint32_t *at = mem_array(r->n + 1, sizeof *at);
	struct order o = {r->runs, rank, NULL};

	mem_sort(r->cols, r->ncols, sizeof *r->cols, str_compare);
	for (uint32_t i = 0; i < r->n; i++)
		at[i] = i;
	if (!is_in_run_order(at, r->n, &o))
		qsort_r(at, r->n, sizeof *at, compare_runs, &o);
	break_ties(r, &o, at);
	return at;
}
