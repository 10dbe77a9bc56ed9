#include "trends.h"
#include "archive.h"
#include "casename.h"
#include "caseset.h"
#include "changepoint.h"
#include "json.h"
#include "jsonl.h"
#include "mem.h"
#include "metric.h"
#include "opt.h"
#include "reading.h"
#include "record.h"
#include "str.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *
trends_branch(const struct archive_entry *e)
{
	const char *ref = json_get_str(e->subject, "ref"),
		   *commit = record_subject_commit(e->subject);

	return ref && commit && str_starts(commit, ref) ? NULL : ref;
}

bool
trends_same_branch(const struct archive_entry *a, const struct archive_entry *b)
{
	const char *x = trends_branch(a), *y = trends_branch(b);

	return !x || !y || strcmp(x, y) == 0;
}

static int
read_branch(struct branch *b, const struct archive *a)
{
	size_t n;
	const char **paths = archive_list(a, &n);
	struct jsonl *in;
	int rc = 0;

	branch_begin(b);
	if (n) {
		in = jsonl_open(paths, n);
		rc = reading_add(b->reading, b, in);
		jsonl_close(in);
	}
	branch_end(b, CHANGEPOINT_LEAST);
	free(paths);
	return rc;
}

/* Chooses the commits of one branch: that of the newest commit of all would
 * leave none if it is not on the line of commits. */
static void
choose_commits(struct trends *t, const struct archive *a)
{
	size_t n = t->branch.npoints;
	const struct archive_entry **at = mem_array(n + 1, sizeof *at);

	for (size_t i = a->n; i-- > 0 && !t->newest;)
		if (branch_find_point(&t->branch, a->v[i].subject) < n)
			t->newest = &a->v[i];
	for (size_t i = 0; i < a->n; i++) {
		size_t p = branch_find_point(&t->branch, a->v[i].subject);

		if (p < n && !at[p] && trends_same_branch(&a->v[i], t->newest))
			at[p] = &a->v[i];
	}
	t->commits = mem_array(n + 1, sizeof *at);
	t->days = mem_array(n + 1, sizeof *t->days);
	t->places = mem_array(n + 1, sizeof *t->places);
	for (size_t i = 0; i < n; i++) {
		t->places[i] = at[i] ? t->n : n;
		if (!at[i])
			continue;
		t->days[t->n] = at[i]->day;
		t->commits[t->n++] = at[i];
	}
	free(at);
}

/* Adds the values of a series of the last case, unless none is of these
 * commits. */
static void
add_series(struct trends *t, const struct branch_series *s, size_t *cap)
{
	struct branch_values all;
	double *v = mem_array(t->n + 1, sizeof *v);
	bool any = false;

	branch_read_values(&t->branch, s, &all);
	for (size_t i = 0; i < t->branch.npoints; i++)
		if (t->places[i] < t->n) {
			v[t->places[i]] = all.v[i];
			any |= !isnan(all.v[i]);
		}
	branch_free_values(&all);
	if (!any) {
		free(v);
		return;
	}
	*MEM_ADD(t->v, t->nseries, *cap) =
	    (struct trend_series){t->ncases - 1, s->metric, s->machine, v};
}

int
trends_read(struct trends *t, const struct archive *a)
{
	const struct branch *b = &t->branch;
	size_t cap = 0;
	int rc;

	*t = (struct trends){0};
	rc = read_branch(&t->branch, a);
	t->machines = b->reading->machines;
	t->common = casename_common(b->names);
	choose_commits(t, a);
	t->cases = mem_array(b->nseries + 1, sizeof *t->cases);
	for (size_t i = 0; i < b->nseries; i++) {
		const struct branch_series *s = &b->series[i];
		const struct metric m = metric_guess(s->metric);
		const char *primary = metric_primary(s->config);

		if (!i || s->kase != s[-1].kase)
			t->cases[t->ncases++] = (struct trend_case){
			    s->kase, casename_of(b->names, s->config), primary};
		if (m.gate || m.closed || strcmp(s->metric, primary) == 0)
			add_series(t, s, &cap);
	}
	return rc;
}

void
trends_free(struct trends *t)
{
	for (size_t i = 0; i < t->ncases; i++)
		free(t->cases[i].name);
	for (size_t i = 0; i < t->nseries; i++)
		free(t->v[i].v);
	branch_free(&t->branch);
	free(t->commits);
	free(t->days);
	free(t->places);
	free(t->cases);
	free(t->v);
	free(t->common);
}

size_t
trends_find_case(const struct trends *t, const struct json *config)
{
	const struct reading *in = t->branch.reading;
	size_t id = caseset_find(in->configs, config), i = 0;

	while (i < t->ncases && (size_t)(t->cases[i].of - in->v) != id)
		i++;
	return i;
}

size_t
trends_find_commit(const struct trends *t, const struct json *subject)
{
	return trends_find_place(
	    t, (double)branch_find_point(&t->branch, subject));
}

size_t
trends_find_place(const struct trends *t, double point)
{
	size_t place = point >= 0 && point < (double)t->branch.npoints
	    ? t->places[(size_t)point]
	    : t->n;

	return place < t->n ? place : t->n;
}
