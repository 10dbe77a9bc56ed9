#include "chain.h"
#include "machines.h"
#include "mem.h"
#include "reading.h"
#include "rows.h"
#include "stats.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* A column of ratios to one reference, with those of one machine. */
struct ratios {
	size_t column, metric;   /* the length of the name of the metric */
	const char *name, *hash; /* of the column; of its reference */
	bool joined;             /* has no values of the machine any more */
};

struct chain {
	struct reading_case *k;
	struct ratios *v;
	size_t n;
	size_t *rows, nrows;   /* of the machine */
	size_t *links, nlinks; /* those of a server that is a reference, too */
};

/* For qsort: by name, so that the order of the input does not count. */
static int
compare_ratios(const void *a, const void *b)
{
	const struct ratios *x = a, *y = b;

	return strcmp(x->name, y->name);
}

static void
list_ratios(struct chain *x)
{
	const struct rows *r = &x->k->rows;

	x->v = mem_array(r->ncols + 1, sizeof *x->v);
	for (size_t i = 0; i < r->ncols; i++) {
		const char *name = r->cols[i].name, *end = strchr(name, '\n');

		if (end)
			x->v[x->n++] = (struct ratios){.column = i,
			    .metric = (size_t)(end - name),
			    .name = name,
			    .hash = end + 1};
	}
	mem_sort(x->v, x->n, sizeof *x->v, compare_ratios);
}

static bool
is_reference(const struct chain *x, const char *binary)
{
	for (size_t i = 0; i < x->n && binary; i++)
		if (strcmp(x->v[i].hash, binary) == 0)
			return true;
	return false;
}

static void
list_rows(struct chain *x, const struct machines *machines, size_t machine)
{
	const struct rows *r = &x->k->rows;

	x->nrows = x->nlinks = 0;
	for (size_t i = 0; i < r->n; i++) {
		if (machines_find(machines, r->runs[i].block) != machine)
			continue;
		x->rows[x->nrows++] = i;
		if (is_reference(x, x->k->binaries[i]))
			x->links[x->nlinks++] = i;
	}
	for (size_t i = 0; i < x->n; i++)
		x->v[i].joined = false;
}

static bool
are_same_metric(const struct ratios *a, const struct ratios *b)
{
	return a->metric == b->metric &&
	    strncmp(a->name, b->name, a->metric) == 0;
}

/* Returns the median ratio of one reference where the machine measured it
 * beside the other, or NAN. */
static double
measure_link(
    const struct chain *x, const struct ratios *from, const struct ratios *to)
{
	double *v = mem_array(x->nlinks + 1, sizeof *v), ratio;
	size_t n = 0;

	for (size_t i = 0; i < x->nlinks; i++) {
		ratio = *rows_value(&x->k->rows, x->links[i], to->column);
		if (ratio > 0 &&
		    strcmp(x->k->binaries[x->links[i]], from->hash) == 0)
			v[n++] = ratio;
	}
	stats_sort(v, n);
	ratio = stats_median(v, n);
	free(v);
	return ratio;
}

/* Moves the ratios of the machine to the column of another reference. */
static void
move_ratios(struct chain *x, struct ratios *from, const struct ratios *to,
    double factor)
{
	for (size_t i = 0; i < x->nrows; i++) {
		double *v = rows_value(&x->k->rows, x->rows[i], from->column);

		if (isnan(*v))
			continue;
		*rows_value(&x->k->rows, x->rows[i], to->column) = factor * *v;
		*v = NAN;
	}
	from->joined = true;
}

/* Joins the first pair of columns. Returns false if there is none. */
static bool
join_first(struct chain *x)
{
	for (size_t i = 0; i < x->n && x->nlinks; i++)
		for (size_t j = 0; j < x->n; j++) {
			struct ratios *from = &x->v[i], *to = &x->v[j];
			double ratio;

			if (i == j || from->joined || to->joined ||
			    !are_same_metric(from, to))
				continue;
			ratio = measure_link(x, from, to);
			if (isnan(ratio))
				continue;
			move_ratios(x, from, to, ratio);
			return true;
		}
	return false;
}

void
chain_references(struct reading_case *k, const struct machines *machines)
{
	struct chain x = {.k = k};

	list_ratios(&x);
	x.rows = mem_array(k->rows.n + 1, sizeof *x.rows);
	x.links = mem_array(k->rows.n + 1, sizeof *x.links);
	for (size_t m = 0; m < machines_count(machines) && x.n > 1; m++) {
		list_rows(&x, machines, m);
		while (join_first(&x))
			;
	}
	rows_drop_empty(&k->rows);
	free(x.links);
	free(x.rows);
	free(x.v);
}
