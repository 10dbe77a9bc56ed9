#include "chain.h"
#include "mem.h"
#include "reading.h"
#include "rows.h"
#include "stats.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Returns the hash of the reference of a column, or NULL. */
static const char *
get_reference(const struct rows *r, size_t column)
{
	const char *s = strchr(r->cols[column].name, '\n');

	return s ? s + 1 : NULL;
}

/* Are both columns of one metric, beside two references? */
static bool
are_same_metric(const struct rows *r, size_t a, size_t b)
{
	size_t n = strcspn(r->cols[a].name, "\n");

	return a != b && get_reference(r, a) && get_reference(r, b) &&
	    strncmp(r->cols[a].name, r->cols[b].name, n + 1) == 0;
}

/* Returns the median ratio of the reference of column 'from' where it was
 * measured beside that of 'to', or NAN. */
static double
measure_link(const struct reading_case *k, size_t from, size_t to)
{
	const struct rows *r = &k->rows;
	const char *hash = get_reference(r, from);
	double *v = mem_array(r->n + 1, sizeof *v), ratio;
	size_t n = 0;

	rows_values(r, to, v);
	for (size_t i = 0; i < r->n; i++)
		if (v[i] > 0 && k->binaries[i] &&
		    strcmp(k->binaries[i], hash) == 0)
			v[n++] = v[i];
	stats_sort(v, n);
	ratio = stats_median(v, n);
	free(v);
	return ratio;
}

/* Is a pair of columns before another by their names? */
static bool
is_before(const struct rows *r, const size_t a[2], const size_t b[2])
{
	int c = strcmp(r->cols[a[0]].name, r->cols[b[0]].name);

	return (c ? c : strcmp(r->cols[a[1]].name, r->cols[b[1]].name)) < 0;
}

/* Joins the first pair of columns by their names, so that the order of the
 * input does not count. Returns false if there is none. */
static bool
join_first(struct reading_case *k)
{
	size_t best[2] = {0};
	double factor = NAN;

	for (size_t i = 0; i < k->rows.ncols; i++)
		for (size_t j = 0; j < k->rows.ncols; j++) {
			double ratio;

			if (!are_same_metric(&k->rows, i, j) ||
			    (!isnan(factor) &&
				!is_before(&k->rows, (size_t[]){i, j}, best)))
				continue;
			ratio = measure_link(k, i, j);
			if (isnan(ratio))
				continue;
			factor = ratio;
			best[0] = i;
			best[1] = j;
		}
	if (isnan(factor))
		return false;
	rows_merge(&k->rows, best[0], best[1], factor);
	return true;
}

void
chain_references(struct reading_case *k)
{
	while (join_first(k))
		;
}
