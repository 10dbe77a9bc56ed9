#include "trends.h"
#include "archive.h"
#include "caseset.h"
#include "casename.h"
#include "intern.h"
#include "json.h"
#include "jsonl.h"
#include "machines.h"
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

/* A median, and of how many runs. */
struct trend_value {
	size_t kase, metric, kind, commit;
	double v, n;
};

/* State of reading. */
struct trend_reader {
	struct trends *t;
	struct caseset *configs;
	struct trend_value *v;
	size_t n, cap;
};

static bool
is_judged(const struct trend_case *c, const char *metric)
{
	const struct metric m = metric_guess(metric);

	return m.gate || m.closed || strcmp(metric, c->primary) == 0;
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

/* Takes the medians of a summary. */
static void
take_summary(struct trend_reader *r, const struct json *rec, size_t commit)
{
	struct trends *t = r->t;
	size_t kase = find_case(r, json_get(rec, "config"));
	size_t kind = machines_add(t->machines, json_get(rec, "env"));
	const struct json *j = json_first(json_get(rec, "metrics"));

	for (; j; j = json_next(j)) {
		double v = json_get_num(j, "median", NAN);

		if (isnan(v) || !is_judged(&t->cases[kase], json_key(j)))
			continue;
		machines_saw(t->machines, kind, commit);
		r->v = mem_grow(r->v, r->n, &r->cap, sizeof *r->v);
		r->v[r->n++] = (struct trend_value){kase,
		    intern_id(t->metrics, json_key(j)), kind, commit, v,
		    json_get_num(rec, "n", 0)};
	}
}

/* Takes the summaries of the runs that were added; frees them. Sets *mixed if
 * they are of several hosts, and takes none then, unless that is NULL. */
static int
take_summaries(
    struct trend_reader *r, struct summary *s, size_t commit, bool *mixed)
{
	size_t n = summary_count(s);
	struct json **v = mem_array(n + 1, sizeof(struct json *));
	int rc = 0;

	for (size_t i = 0; i < n; i++) {
		v[i] = summary_record(s, i, true);
		if (!v[i])
			rc = -1;
		else if (mixed)
			*mixed |= record_env_varied(v[i], "host");
	}
	for (size_t i = 0; i < n; i++) {
		if (v[i] && !(mixed && *mixed))
			take_summary(r, v[i], commit);
		json_free(v[i]);
	}
	free(v);
	summary_free(s);
	return rc;
}

static struct summary *
new_summary(void)
{
	struct summary *s = summary_new();

	summary_ignore_hists(s);
	return s;
}

/* Summarises the runs of each host. */
static int
split_commit(struct trend_reader *r, size_t commit)
{
	const char *path = r->t->commits[commit]->path;
	struct jsonl *in = jsonl_open(&path, 1);
	struct intern *hosts = intern_new();
	struct summary **v = NULL;
	struct json *rec;
	size_t n = 0;
	int got, rc = 0;

	while ((got = record_next(in, &rec)) != 0) {
		const char *host;
		size_t id;

		if (got < 0) {
			rc = -1;
			continue;
		}
		host = json_get_str(json_get(rec, "env"), "host");
		id = intern_id(hosts, host ? host : "");
		if (id == n) {
			v = mem_resize(v, n + 1, sizeof(struct summary *));
			v[n++] = new_summary();
		}
		if (record_is(rec, "run"))
			rc |= summary_add(v[id], rec, jsonl_where(in));
		json_free(rec);
	}
	for (size_t i = 0; i < n; i++)
		rc |= take_summaries(r, v[i], commit, NULL);
	free(v);
	jsonl_close(in);
	intern_free(hosts);
	return rc;
}

static int
read_commit(struct trend_reader *r, size_t commit)
{
	const char *path = r->t->commits[commit]->path;
	struct summary *s = new_summary();
	struct jsonl *in = jsonl_open(&path, 1);
	struct json *rec;
	bool mixed = false;
	int got, rc = 0;

	while ((got = summary_next(s, in, &rec)) != 0) {
		if (got < 0) {
			rc = -1;
			continue;
		}
		if (record_is(rec, "summary"))
			take_summary(r, rec, commit);
		json_free(rec);
	}
	jsonl_close(in);
	rc |= take_summaries(r, s, commit, &mixed);
	return mixed ? rc | split_commit(r, commit) : rc;
}

static int
compare_values(const void *a, const void *b, void *arg)
{
	const struct trend_value *x = a, *y = b;
	const struct trends *t = arg;
	size_t p[] = {
	    x->kase, x->metric, machines_find(t->machines, x->kind), x->commit};
	size_t q[] = {
	    y->kase, y->metric, machines_find(t->machines, y->kind), y->commit};

	for (size_t i = 0; i < sizeof p / sizeof *p; i++)
		if (p[i] != q[i])
			return p[i] < q[i] ? -1 : 1;
	return (x->n < y->n) - (x->n > y->n);
}

/* Makes the series. Of two values of one case, metric, machine and commit, that
 * of more runs is taken. */
static void
make_series(struct trend_reader *r)
{
	struct trends *t = r->t;
	struct trend_series *s = NULL;
	size_t cap = 0;

	machines_make(t->machines, TRENDS_LEAST);
	if (r->n)
		qsort_r(r->v, r->n, sizeof *r->v, compare_values, t);
	for (size_t i = 0; i < r->n; i++) {
		const struct trend_value *v = &r->v[i];
		const char *metric = intern_text(t->metrics, v->metric);
		size_t machine = machines_find(t->machines, v->kind);

		if (!s || s->kase != v->kase || s->metric != metric ||
		    s->machine != machine) {
			t->v = mem_grow(t->v, t->nseries, &cap, sizeof *t->v);
			s = &t->v[t->nseries++];
			*s = (struct trend_series){v->kase, metric, machine,
			    mem_array(t->n, sizeof *s->v)};
			for (size_t k = 0; k < t->n; k++)
				s->v[k] = NAN;
		}
		if (isnan(s->v[v->commit]))
			s->v[v->commit] = v->v;
	}
}

static void
choose_commits(struct trends *t, const struct archive *a)
{
	t->commits = mem_array(a->n + 1, sizeof(struct archive_entry *));
	t->days = mem_array(a->n + 1, sizeof(const char *));
	for (size_t i = 0; i < a->n; i++)
		if (trends_same_branch(&a->v[i], &a->v[a->n - 1])) {
			t->days[t->n] = a->v[i].day;
			t->commits[t->n++] = &a->v[i];
		}
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
	struct trend_reader r = {.t = t, .configs = caseset_new()};
	int rc = 0;

	*t = (struct trends){
	    .machines = machines_new(), .metrics = intern_new()};
	choose_commits(t, a);
	for (size_t i = 0; i < t->n; i++)
		rc |= read_commit(&r, i);
	make_series(&r);
	set_names(t);
	caseset_free(r.configs);
	free(r.v);
	return rc;
}

void
trends_free(struct trends *t)
{
	for (size_t i = 0; i < t->ncases; i++) {
		json_free(t->cases[i].config);
		free(t->cases[i].name);
	}
	for (size_t i = 0; i < t->nseries; i++)
		free(t->v[i].v);
	machines_free(t->machines);
	intern_free(t->metrics);
	free(t->commits);
	free(t->days);
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
