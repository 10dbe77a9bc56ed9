#include "trends.h"
#include "archive.h"
#include "caseset.h"
#include "casename.h"
#include "intern.h"
#include "json.h"
#include "jsonl.h"
#include "mem.h"
#include "metric.h"
#include "record.h"
#include "str.h"
#include "summary.h"

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

/* State of reading. */
struct trend_reader {
	struct trends *t;
	struct caseset *configs;
	struct intern *metrics, *series; /* of case and metric */
	size_t cap;
	double *most; /* by series: runs of the commit that is being read */
	size_t mcap;
};

static bool
is_judged(const struct trend_case *c, const char *metric)
{
	const struct metric m = metric_guess(metric);

	return m.gate || m.bound || strcmp(metric, c->primary) == 0;
}

static struct trend_series *
find_series(struct trend_reader *r, size_t kase, const char *metric)
{
	struct trends *t = r->t;
	size_t id = intern_pair(r->series, kase, intern_id(r->metrics, metric));
	double *v;

	if (id < t->nseries)
		return &t->v[id];
	t->v = mem_grow(t->v, id, &r->cap, sizeof *t->v);
	r->most = mem_grow(r->most, id, &r->mcap, sizeof *r->most);
	v = mem_array(t->n, sizeof *v);
	for (size_t i = 0; i < t->n; i++)
		v[i] = NAN;
	t->v[id] = (struct trend_series){kase, mem_str(metric), v};
	r->most[id] = 0;
	t->nseries++;
	return &t->v[id];
}

static size_t
find_case(struct trend_reader *r, const struct json *config)
{
	struct trends *t = r->t;
	size_t id = caseset_add_value(r->configs, config);

	if (id < t->ncases)
		return id;
	t->cases = mem_resize(t->cases, t->ncases + 1, sizeof *t->cases);
	t->cases[t->ncases++] = (struct trend_case){
	    .config = json_dup(config), .primary = metric_primary(config)};
	return id;
}

/* Takes the medians of a summary. Of two of one case, that with more runs. */
static void
take_summary(struct trend_reader *r, const struct json *rec, size_t commit)
{
	double n = json_get_num(rec, "n", 0);
	size_t kase = find_case(r, json_get(rec, "config"));
	const struct json *j = json_first(json_get(rec, "metrics"));

	for (; j; j = json_next(j)) {
		double v = json_get_num(j, "median", NAN);
		struct trend_series *s;

		if (isnan(v) || !is_judged(&r->t->cases[kase], json_key(j)))
			continue;
		s = find_series(r, kase, json_key(j));
		if (!isnan(s->v[commit]) && n <= r->most[s - r->t->v])
			continue;
		s->v[commit] = v;
		r->most[s - r->t->v] = n;
	}
}

static int
read_commit(struct trend_reader *r, size_t commit)
{
	const char *path = r->t->commits[commit]->path;
	struct summary *s = summary_new();
	struct jsonl *in = jsonl_open(&path, 1);
	struct json *rec;
	int got, rc = 0;

	summary_ignore_hists(s);
	while ((got = summary_next(s, in, &rec)) != 0) {
		if (got < 0) {
			rc = -1;
			continue;
		}
		if (record_is(rec, "summary"))
			take_summary(r, rec, commit);
		json_free(rec);
	}
	for (size_t i = 0; i < summary_count(s); i++) {
		rec = summary_record(s, i, true);
		if (rec)
			take_summary(r, rec, commit);
		else
			rc = -1;
		json_free(rec);
	}
	jsonl_close(in);
	summary_free(s);
	return rc;
}

static void
choose_commits(struct trends *t, const struct archive *a)
{
	t->commits = mem_array(a->n + 1, sizeof(struct archive_entry *));
	for (size_t i = 0; i < a->n; i++)
		if (trends_same_branch(&a->v[i], &a->v[a->n - 1]))
			t->commits[t->n++] = &a->v[i];
}

static void
set_names(struct trends *t)
{
	const struct json **configs = mem_array(t->ncases + 1, sizeof *configs);
	struct casename *names;

	for (size_t i = 0; i < t->ncases; i++)
		configs[i] = t->cases[i].config;
	names = casename_new(configs, t->ncases);
	for (size_t i = 0; i < t->ncases; i++)
		t->cases[i].name = casename_of(names, t->cases[i].config);
	t->common = casename_common(names);
	casename_free(names);
	free(configs);
}

int
trends_read(struct trends *t, const struct archive *a)
{
	struct trend_reader r = {.t = t,
	    .configs = caseset_new(),
	    .metrics = intern_new(),
	    .series = intern_new()};
	int rc = 0;

	*t = (struct trends){0};
	choose_commits(t, a);
	for (size_t i = 0; i < t->n; i++)
		rc |= read_commit(&r, i);
	set_names(t);
	caseset_free(r.configs);
	intern_free(r.metrics);
	intern_free(r.series);
	free(r.most);
	return rc;
}

void
trends_free(struct trends *t)
{
	for (size_t i = 0; i < t->ncases; i++) {
		json_free(t->cases[i].config);
		free(t->cases[i].name);
	}
	for (size_t i = 0; i < t->nseries; i++) {
		free(t->v[i].metric);
		free(t->v[i].v);
	}
	free(t->commits);
	free(t->cases);
	free(t->v);
	free(t->common);
}

size_t
trends_find_case(const struct trends *t, const struct json *config)
{
	size_t i = 0;

	while (i < t->ncases && !json_equal(t->cases[i].config, config))
		i++;
	return i;
}

size_t
trends_find_commit(const struct trends *t, const struct json *subject)
{
	const char *commit = record_subject_commit(subject);
	size_t found = t->n;

	for (size_t i = t->n; i-- > 0;) {
		const struct json *own = t->commits[i]->subject;
		const char *id = record_subject_commit(own);

		if (json_equal(own, subject))
			return i;
		if (found == t->n && commit && id && strcmp(commit, id) == 0)
			found = i;
	}
	return found;
}
