#include "series.h"
#include "caseset.h"
#include "err.h"
#include "json.h"
#include "jsonl.h"
#include "mem.h"
#include "intern.h"
#include "record.h"
#include "hashset.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct series_run {
	size_t session, at; /* at: index in the input */
	double order, block;
	struct json *metrics;
};

struct session {
	char *started; /* of its first run; NULL: not known of all runs */
	size_t id, rank;
};

static struct series_case *
intern_case(struct series *s, const struct json *config)
{
	size_t id = caseset_add_value(s->configs, config);

	if (id == s->n) {
		s->cases = mem_grow(s->cases, s->n, &s->cap, sizeof *s->cases);
		s->cases[s->n++] =
		    (struct series_case){.config = json_dup(config)};
	}
	return &s->cases[id];
}

static size_t
intern_session(struct series *s, const struct json *run)
{
	const char *name = json_get_str(run, "session");
	const char *started = json_get_str(run, "started");
	size_t id = intern_id(s->names, name ? name : "");
	struct session *w;

	if (id == s->nsessions) {
		s->sessions = mem_grow(s->sessions, s->nsessions,
		    &s->sessions_cap, sizeof *s->sessions);
		s->sessions[s->nsessions++] =
		    (struct session){.started = mem_str(started), .id = id};
		return id;
	}
	w = &s->sessions[id];
	if (w->started && (!started || strcmp(started, w->started) < 0)) {
		free(w->started);
		w->started = mem_str(started);
	}
	return id;
}

static void
add_run(struct series *s, struct json *rec, size_t at)
{
	const struct json *reference = json_path(rec, "env.reference_sha256");
	const struct json *run = json_get(rec, "run");
	struct series_case *c;

	if (!json_get(rec, "metrics") ||
	    strcmp(json_get_str(rec, "status"), "ok") != 0)
		return;
	if (reference && !s->reference)
		s->reference = json_dup(reference);
	s->mixed |= reference && !json_equal(reference, s->reference);
	c = intern_case(s, json_get(rec, "config"));
	c->runs = mem_grow(c->runs, c->n, &c->cap, sizeof *c->runs);
	c->runs[c->n++] = (struct series_run){.session = intern_session(s, run),
	    .at = at,
	    .order = json_get_num(run, "order", -1),
	    .block = json_get_num(run, "block", -1),
	    .metrics = json_detach(rec, "metrics")};
}

static int
compare_by_start(const void *a, const void *b)
{
	const struct session *x = a, *y = b;
	int c = strcmp(x->started, y->started);

	return c ? c : (x->id > y->id) - (x->id < y->id);
}

static void
rank_sessions(struct series *s)
{
	struct session *v = mem_array(s->nsessions + 1, sizeof *v);
	bool known = true;

	for (size_t i = 0; i < s->nsessions; i++) {
		v[i] = s->sessions[i];
		known = known && v[i].started;
	}
	if (known && s->nsessions)
		qsort(v, s->nsessions, sizeof *v, compare_by_start);
	for (size_t i = 0; i < s->nsessions; i++)
		s->sessions[v[i].id].rank = i;
	free(v);
}

static int
compare_by_time(const void *a, const void *b, void *arg)
{
	const struct series_run *x = a, *y = b;
	const struct session *s = arg;
	size_t p = s[x->session].rank, q = s[y->session].rank;
	int c = (p > q) - (p < q);

	c = c ? c : (x->order > y->order) - (x->order < y->order);
	c = c ? c : (x->block > y->block) - (x->block < y->block);
	return c ? c : (x->at > y->at) - (x->at < y->at);
}

static void
sort_runs(struct series *s, struct series_case *c)
{
	qsort_r(c->runs, c->n, sizeof *c->runs, compare_by_time, s->sessions);
	for (size_t i = 1; i < c->n; i++) {
		const struct series_run *a = &c->runs[i - 1], *b = &c->runs[i];

		c->interleaved |= a->session == b->session && a->block >= 0 &&
		    a->block == b->block;
	}
}

struct series *
series_read(const char *const *files, size_t n)
{
	struct series *s = mem_new(sizeof *s);
	struct jsonl *in = jsonl_open(files, n);
	struct hashset *seen = hashset_new();
	struct json *rec;
	size_t at = 0;
	int got, rc = 0;

	s->configs = caseset_new();
	s->names = intern_new();
	while ((got = record_next(in, &rec)) != 0) {
		if (got < 0) {
			rc = -1;
			continue;
		}
		if (record_is(rec, "summary"))
			rc = err_fail("%s: a summary does not have the order "
				      "of its runs: give run records",
			    jsonl_where(in));
		else if (record_is(rec, "run") &&
		    !(json_path(rec, "run.session") &&
			hashset_add(seen, json_hash(rec))))
			add_run(s, rec, at++);
		json_free(rec);
	}
	hashset_free(seen);
	jsonl_close(in);
	rank_sessions(s);
	for (size_t i = 0; i < s->n; i++)
		sort_runs(s, &s->cases[i]);
	if (rc == 0 && s->n)
		return s;
	if (rc == 0)
		err_say("the input has no run records");
	series_free(s);
	return NULL;
}

void
series_free(struct series *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->n; i++) {
		for (size_t k = 0; k < s->cases[i].n; k++)
			json_free(s->cases[i].runs[k].metrics);
		free(s->cases[i].runs);
		json_free(s->cases[i].config);
	}
	for (size_t i = 0; i < s->nsessions; i++)
		free(s->sessions[i].started);
	json_free(s->reference);
	free(s->cases);
	free(s->sessions);
	caseset_free(s->configs);
	intern_free(s->names);
	free(s);
}

static int
compare_strings(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

const char **
series_metrics(const struct series_case *c, size_t *n)
{
	const char **v = NULL;
	size_t cap = 0, all = 0;

	*n = 0;
	for (size_t i = 0; i < c->n; i++)
		for (const struct json *j = json_first(c->runs[i].metrics); j;
		     j = json_next(j)) {
			v = mem_grow(v, all, &cap, sizeof *v);
			v[all++] = json_key(j);
		}
	if (all)
		qsort(v, all, sizeof *v, compare_strings);
	for (size_t i = 0; i < all; i++)
		if (!i || strcmp(v[i], v[i - 1]) != 0)
			v[(*n)++] = v[i];
	return v;
}

struct sample
series_sample(
    const struct series *s, const struct series_case *c, const char *metric)
{
	struct sample t = {0};

	for (size_t i = 0; i < c->n; i++) {
		const struct series_run *r = &c->runs[i];
		const char *session = intern_text(s->names, r->session);

		sample_add(&t,
		    (double[]){json_get_num(r->metrics, metric, NAN)},
		    &(struct round){*session ? session : NULL, r->block}, 1);
	}
	return t;
}
