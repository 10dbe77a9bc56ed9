#include "listing.h"
#include "branch.h"
#include "casename.h"
#include "caseset.h"
#include "intern.h"
#include "machines.h"
#include "mem.h"
#include "reading.h"

#include <stdlib.h>
#include <string.h>

struct rank {
	const char *text;
	size_t was;
};

static int
compare_by_version(const void *a, const void *b)
{
	const struct rank *x = a, *y = b;
	int c = strverscmp(x->text, y->text); /* 64 before 4096 */

	return c ? c : strcmp(x->text, y->text);
}

/* Returns which machines have rows of the case; all of them if that cannot be
 * read, which is reported. Caller frees. */
static bool *
find_machines(const struct branch *h, const struct reading_case *k)
{
	const struct machines *m = h->reading->machines;
	size_t n = machines_count(m);
	struct rows_run *runs = mem_array(k->rows.n + 1, sizeof *runs);
	bool *has = mem_array(n, sizeof *has);
	bool read = rows_runs(&k->rows, h->reading->scratch, runs) == 0;

	for (size_t i = 0; i < n; i++)
		has[i] = n == 1 || !read;
	for (size_t i = 0; i < k->rows.n && n > 1 && read; i++)
		has[machines_find(m, runs[i].block)] = true;
	free(runs);
	return has;
}

/* Returns the metric of a column, without the reference. */
static const char *
get_metric(const struct reading *in, const char *column)
{
	size_t n = strcspn(column, "\n");

	return column[n]
	    ? intern_text(in->names, intern_idn(in->names, column, n))
	    : column;
}

/* Adds a series for each metric and machine of a case. */
static void
add_series(struct branch *h, const struct reading_case *k, size_t *cap)
{
	struct rank *r = mem_array(k->rows.ncols + 1, sizeof *r);
	size_t machines = machines_count(h->reading->machines);
	bool *has = find_machines(h, k);

	for (size_t i = 0; i < k->rows.ncols; i++)
		r[i] = (struct rank){k->rows.cols[i].name, i};
	if (k->rows.ncols)
		qsort(r, k->rows.ncols, sizeof *r, compare_by_version);
	for (size_t i = 0; i < k->rows.ncols; i++)
		for (size_t j = 0; j < machines; j++) {
			if (!has[j])
				continue;
			h->series = mem_grow(
			    h->series, h->nseries, cap, sizeof *h->series);
			h->series[h->nseries++] = (struct series){k, k->config,
			    get_metric(h->reading, r[i].text), r[i].was, j};
		}
	free(has);
	free(r);
}

/* Lists the series by case. Cases without values do not affect the names. */
static void
list_series(struct branch *h)
{
	const struct reading *in = h->reading;
	struct rank *r = mem_array(in->n + 1, sizeof *r);
	const struct json **ok = mem_array(in->n + 1, sizeof *ok);
	size_t cap = 0, nok = 0;

	for (size_t i = 0; i < in->n; i++) {
		r[i] = (struct rank){caseset_text(in->configs, i), i};
		if (in->v[i].rows.n)
			ok[nok++] = in->v[i].config;
	}
	if (in->n)
		qsort(r, in->n, sizeof *r, compare_by_version);
	for (size_t i = 0; i < in->n; i++)
		add_series(h, &in->v[r[i].was], &cap);
	h->names = casename_new(ok, nok);
	for (size_t i = 0; i < in->n; i++)
		if (!in->v[i].rows.n)
			casename_differs(h->names, in->v[i].config);
	free(ok);
	free(r);
}

static int
compare_failures(const void *a, const void *b, void *arg)
{
	const struct reading_failure *x = a, *y = b;
	const struct reading *in = arg;
	int c = strverscmp(caseset_text(in->configs, x->kase),
	    caseset_text(in->configs, y->kase));

	c = c ? c : (x->kase > y->kase) - (x->kase < y->kase);
	c = c ? c : (x->point > y->point) - (x->point < y->point);
	return c ? c
		 : strcmp(x->error ? x->error : "", y->error ? y->error : "");
}

/* By case, then by failed runs, most first. */
static int
compare_losses(const void *a, const void *b)
{
	const struct loss *x = a, *y = b;
	int c = (x->kase > y->kase) - (x->kase < y->kase);

	c = c ? c : (x->failed < y->failed) - (x->failed > y->failed);
	return c ? c
		 : strcmp(x->error ? x->error : "", y->error ? y->error : "");
}

/* Sums the failed runs of each case at each point. */
static void
collect_losses(struct branch *h)
{
	struct reading *in = h->reading;
	struct reading_failure *f = in->failures;
	size_t order = 0;

	if (!in->nfailures)
		return;
	qsort_r(f, in->nfailures, sizeof *f, compare_failures, in);
	h->losses = mem_array(in->nfailures, sizeof *h->losses);
	for (size_t i = 0; i < in->nfailures; i++) {
		struct loss *l = &h->losses[h->nlosses];
		bool same = i && f[i].kase == f[i - 1].kase;

		order += i && !same;
		if (same && f[i].point == f[i - 1].point) {
			l[-1].failed += f[i].failed;
			continue;
		}
		*l = (struct loss){
		    in->v[f[i].kase].config, f[i].error, f[i].failed, order};
		h->nlosses++;
	}
	qsort(h->losses, h->nlosses, sizeof *h->losses, compare_losses);
}

void
listing_make(struct branch *h)
{
	list_series(h);
	collect_losses(h);
}
