#include "column.h"
#include "branch.h"
#include "counted.h"
#include "machines.h"
#include "mem.h"
#include "metric.h"
#include "reading.h"
#include "rows.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct column {
	const struct rows *of; /* NULL: nothing is read */
	size_t at;             /* which column of these */
	struct rows_run *runs;
	double *v, *counts;
	size_t *first; /* rows first[i]..first[i + 1] - 1 are of machine i */
};

struct column *
column_new(void)
{
	return mem_new(sizeof(struct column));
}

static void
clear_column(struct column *c)
{
	free(c->runs);
	free(c->v);
	free(c->counts);
	free(c->first);
	*c = (struct column){0};
}

void
column_free(struct column *c)
{
	if (c)
		clear_column(c);
	free(c);
}

/* Reads the counts of the runs if the metric needs them. */
static int
read_counts(struct column *c, const struct branch *h, const struct series *s)
{
	const struct rows *r = &s->kase->rows;
	const struct metric m = metric_guess(s->metric);
	size_t at = rows_find(r, COUNTED_METRIC);

	if (!counted_may_be(&m) || at == r->ncols)
		return 0;
	c->counts = mem_array(r->n + 1, sizeof *c->counts);
	return rows_values(r, h->reading->scratch, at, c->counts);
}

/* Reorders n elements of this size: element i becomes that of number order[i].
 */
static void
reorder_array(void *v, const uint32_t *order, size_t n, size_t size)
{
	char *to = v, *from = mem_array(n + 1, size);

	memcpy(from, v, n * size);
	for (size_t i = 0; i < n; i++)
		memcpy(to + i * size, from + order[i] * size, size);
	free(from);
}

/* Sorts the rows by machine, and sets their points. */
static void
divide_rows(struct column *c, const struct branch *h, size_t n)
{
	const struct machines *m = h->reading->machines;
	size_t count = machines_count(m);
	uint32_t *order = mem_array(n + 1, sizeof *order);

	c->first = mem_array(count + 2, sizeof *c->first);
	for (size_t i = 0; i < n; i++) {
		c->first[machines_find(m, c->runs[i].block) + 2]++;
		c->runs[i].session = (uint32_t)h->places[c->runs[i].session];
	}
	for (size_t i = 2; i < count + 2; i++)
		c->first[i] += c->first[i - 1];
	for (size_t i = 0; i < n; i++) {
		size_t machine = machines_find(m, c->runs[i].block);

		order[c->first[machine + 1]++] = (uint32_t)i;
	}
	if (count > 1) {
		reorder_array(c->runs, order, n, sizeof *c->runs);
		reorder_array(c->v, order, n, sizeof *c->v);
		if (c->counts)
			reorder_array(c->counts, order, n, sizeof *c->counts);
	}
	free(order);
}

static int
load_column(struct column *c, const struct branch *h, const struct series *s)
{
	const struct rows *r = &s->kase->rows;
	struct scratch *scratch = h->reading->scratch;

	clear_column(c);
	c->runs = mem_array(r->n + 1, sizeof *c->runs);
	c->v = mem_array(r->n + 1, sizeof *c->v);
	if (rows_runs(r, scratch, c->runs) < 0 ||
	    rows_values(r, scratch, s->column, c->v) < 0 ||
	    read_counts(c, h, s) < 0)
		return -1;
	divide_rows(c, h, r->n);
	c->of = r;
	c->at = s->column;
	return 0;
}

int
column_read(
    const struct branch *h, const struct series *s, struct column_part *part)
{
	struct column *c = h->column;
	size_t at;

	if ((c->of != &s->kase->rows || c->at != s->column) &&
	    load_column(c, h, s) < 0)
		return -1;
	at = c->first[s->machine];
	*part = (struct column_part){.n = c->first[s->machine + 1] - at,
	    .runs = c->runs + at,
	    .values = c->v + at,
	    .counts = c->counts ? c->counts + at : NULL};
	return 0;
}
