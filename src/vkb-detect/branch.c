#include "branch.h"
#include "ancestry.h"
#include "casename.h"
#include "err.h"
#include "json.h"
#include "jsonl.h"
#include "mem.h"
#include "names.h"
#include "record.h"
#include "seen.h"
#include "stats.h"
#include "str.h"
#include "summary.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What everything is borrowed from. */
struct store {
	struct json **recs; /* summaries */
	size_t nrecs, reccap;
	struct names *cases, *metrics, *keys;
	size_t ncases, casecap;
	const struct json **configs; /* of each case */
	struct value *values;
	size_t nvalues, valuecap, pointcap, losscap;
	struct seen *seen;
	struct ancestry *ancestry;
};

/* A commit of a module is measured, where there is one. */
static const char *
commit_of(const struct json *subject)
{
	const char *s = json_get_str(subject, "module_commit");

	return s ? s : json_get_str(subject, "commit");
}

static const char *
time_of(const struct json *subject)
{
	const char *s = json_get_str(subject, "module_time");

	return s ? s : json_get_str(subject, "time");
}

/* Subjects of one commit are one point. */
static size_t
point_of(struct branch *h, const struct json *subject)
{
	const char *commit = json_get_str(subject, "commit");
	const char *module = json_get_str(subject, "module_commit");
	struct str key = {0};
	struct point *p;
	size_t id;

	if (commit || module)
		str_printf(
		    &key, "%s %s", commit ? commit : "", module ? module : "");
	else
		record_room(&key, subject);
	id = names_id(h->store->keys, key.s);
	if (id == h->npoints) {
		h->points = mem_grow(h->points, h->npoints, &h->store->pointcap,
		    sizeof *h->points);
		p = &h->points[h->npoints++];
		*p = (struct point){.at = -1};
	}
	str_free(&key);
	return id;
}

/* Of several subjects of one commit, the first by its text speaks. */
static void
know(struct point *p, const struct json *subject)
{
	struct str s = {0}, t = {0};
	const char *time = time_of(subject);

	if (p->subject && json_equal(p->subject, subject))
		return;
	record_room(&s, subject);
	record_room(&t, p->subject);
	if (!p->subject || strcmp(s.s, t.s) < 0) {
		p->subject = subject;
		p->commit = commit_of(subject);
	}
	if (!p->time || (time && strcmp(time, p->time) < 0))
		p->time = time;
	str_free(&s);
	str_free(&t);
}

/* Its commit rather than a label, which all may have in common. */
static char *
name_of(const struct point *p)
{
	if (!p->commit)
		return record_subject_name(p->subject);
	return strlen(p->commit) > 12 ? mem_strn(p->commit, 8)
				      : mem_str(p->commit);
}

static void
add_value(struct store *s, size_t kase, size_t metric, size_t point, double v)
{
	s->values =
	    mem_grow(s->values, s->nvalues, &s->valuecap, sizeof *s->values);
	s->values[s->nvalues++] = (struct value){kase, metric, point, v};
}

static size_t
case_of(struct store *s, const struct json *config)
{
	struct str key = {0};
	size_t id;

	record_room(&key, config);
	id = names_id(s->cases, key.s);
	str_free(&key);
	if (id == s->ncases) {
		s->configs = mem_grow(
		    s->configs, s->ncases, &s->casecap, sizeof(struct json *));
		s->configs[s->ncases++] = config;
	}
	return id;
}

static void
add_loss(struct branch *h, const struct json *rec, size_t point)
{
	double failed = json_get_num(rec, "failed", 0);

	if (!(failed > 0))
		return;
	h->losses = mem_grow(
	    h->losses, h->nlosses, &h->store->losscap, sizeof *h->losses);
	h->losses[h->nlosses++] = (struct loss){json_get(rec, "config"),
	    json_str(json_first(json_get(rec, "errors"))), (size_t)failed};
	h->points[point].failed += (size_t)failed;
}

/* A summary, taken. The same one again, of a session, counts once. */
static void
add_summary(struct branch *h, struct json *rec)
{
	struct store *s = h->store;
	const struct json *subject = json_get(rec, "subject"), *m, *v;
	size_t point = point_of(h, subject), kase, metric;

	if (json_get(rec, "sessions") && seen_add(s->seen, json_hash(rec))) {
		json_free(rec);
		return;
	}
	s->recs =
	    mem_grow(s->recs, s->nrecs, &s->reccap, sizeof(struct json *));
	s->recs[s->nrecs++] = rec;
	know(&h->points[point], subject);
	add_loss(h, rec, point);
	if (!(json_get_num(rec, "n", 0) > 0))
		return;
	kase = case_of(s, json_get(rec, "config"));
	for (m = json_first(json_get(rec, "metrics")); m; m = json_next(m)) {
		metric = names_id(s->metrics, json_key(m));
		v = json_first(json_get(m, "values"));
		if (!v && json_get(m, "median"))
			add_value(s, kase, metric, point,
			    json_get_num(m, "median", NAN));
		for (; v; v = json_next(v))
			add_value(s, kase, metric, point, json_num(v, NAN));
	}
}

static int
collect(struct branch *h, struct jsonl *in)
{
	struct summary *runs = summary_new();
	struct json *rec;
	int rc = 0, got;

	while ((got = record_next(in, &rec)) != 0) {
		if (got < 0) {
			rc = -1;
			continue;
		}
		json_del(rec, "hist");
		if (record_is(rec, "commit")) {
			ancestry_add(h->store->ancestry, rec);
			continue;
		}
		if (record_is(rec, "summary")) {
			add_summary(h, rec);
			continue;
		}
		if (record_is(rec, "run")) {
			point_of(h, json_get(rec, "subject")); /* its turn */
			if (summary_add(runs, rec, jsonl_where(in)) < 0)
				rc = -1;
		}
		json_free(rec);
	}
	for (size_t i = 0; i < summary_count(runs); i++)
		add_summary(h, summary_record(runs, i));
	summary_free(runs);
	return rc;
}

struct turn {
	struct point point;
	size_t was;
};

/* Those with a place first; equal places in the order of the input. */
static int
by_place(const void *a, const void *b)
{
	const struct turn *x = a, *y = b;
	int c = x->point.lost - y->point.lost;

	c = c ? c : (x->point.at > y->point.at) - (x->point.at < y->point.at);
	if (!c && x->point.time && y->point.time && x->point.at >= 0 &&
	    x->point.at != floor(x->point.at))
		c = strcmp(x->point.time, y->point.time);
	return c ? c : (x->was > y->was) - (x->was < y->was);
}

static void
place(struct branch *h)
{
	struct ancestry *a = h->store->ancestry;
	const char **ids = mem_array(h->npoints + 1, sizeof *ids);
	enum ancestry_place where;

	for (size_t i = 0; i < h->npoints; i++)
		ids[i] = h->points[i].commit;
	ancestry_choose(a, ids, h->npoints);
	free(ids);
	for (size_t i = 0; i < h->npoints && ancestry_length(a); i++) {
		struct point *p = &h->points[i];

		where = ancestry_find(a, p->commit, p->time, &p->at);
		p->lost = p->at == -1;
		h->by_time += where == ANCESTRY_UNKNOWN && !p->lost;
	}
}

/* Puts the points in order; the values follow. */
static void
order(struct branch *h)
{
	struct turn *t = mem_array(h->npoints + 1, sizeof *t);
	size_t *now = mem_array(h->npoints + 1, sizeof *now), all = h->npoints;

	place(h);
	for (size_t i = 0; i < all; i++)
		t[i] = (struct turn){h->points[i], i};
	if (all)
		qsort(t, all, sizeof *t, by_place);
	for (size_t i = 0; i < all; i++) {
		h->points[i] = t[i].point;
		now[t[i].was] = i;
		h->nlost += t[i].point.lost;
		h->points[i].name = name_of(&h->points[i]);
	}
	h->npoints -= h->nlost;
	for (size_t i = 0; i < h->store->nvalues; i++)
		h->store->values[i].point = now[h->store->values[i].point];
	free(t);
	free(now);
}

struct rank {
	const char *text;
	size_t was;
};

static int
by_version(const void *a, const void *b)
{
	const struct rank *x = a, *y = b;
	int c = strverscmp(x->text, y->text); /* 64 before 4096 */

	return c ? c : strcmp(x->text, y->text);
}

/* The place of each name in their order; caller frees. */
static size_t *
ranks(const struct names *names, size_t n)
{
	struct rank *r = mem_array(n + 1, sizeof *r);
	size_t *at = mem_array(n + 1, sizeof *at);

	for (size_t i = 0; i < n; i++)
		r[i] = (struct rank){names_text(names, i), i};
	if (n)
		qsort(r, n, sizeof *r, by_version);
	for (size_t i = 0; i < n; i++)
		at[r[i].was] = i;
	free(r);
	return at;
}

struct order {
	const size_t *cases, *metrics;
};

static int
by_series(const void *a, const void *b, void *arg)
{
	const struct value *x = a, *y = b;
	const struct order *o = arg;
	size_t i = o->cases[x->kase], j = o->cases[y->kase];
	int c = (i > j) - (i < j);

	i = o->metrics[x->metric];
	j = o->metrics[y->metric];
	c = c ? c : (i > j) - (i < j);
	c = c ? c : (x->point > y->point) - (x->point < y->point);
	return c ? c : (x->v > y->v) - (x->v < y->v);
}

/* One series from values of one case and metric, sorted by point and value. */
static void
add_series(struct branch *h, const struct value *v, size_t n)
{
	struct series s = {.config = h->store->configs[v->kase],
	    .metric = names_text(h->store->metrics, v->metric),
	    .values = v,
	    .nvalues = n};
	double *one = mem_array(n, sizeof *one);

	s.v = mem_array(h->npoints, sizeof *s.v);
	for (size_t i = 0; i < h->npoints; i++)
		s.v[i] = NAN;
	for (size_t i = 0, k; i < n; i += k) {
		for (k = 0; i + k < n && v[i + k].point == v[i].point; k++)
			one[k] = v[i + k].v;
		s.v[v[i].point] = stats_median(one, k);
		s.n++;
	}
	free(one);
	h->series[h->nseries++] = s;
}

static void
group(struct branch *h)
{
	struct store *s = h->store;
	size_t nmetrics = 0, kept = 0, k;
	size_t *cases = ranks(s->cases, s->ncases), *metrics;

	for (size_t i = 0; i < s->nvalues; i++) {
		if (s->values[i].metric >= nmetrics)
			nmetrics = s->values[i].metric + 1;
		if (s->values[i].point < h->npoints)
			s->values[kept++] = s->values[i];
	}
	s->nvalues = kept;
	metrics = ranks(s->metrics, nmetrics);
	if (kept)
		qsort_r(s->values, kept, sizeof *s->values, by_series,
		    &(struct order){cases, metrics});
	h->series = mem_array(s->ncases * nmetrics + 1, sizeof *h->series);
	for (size_t i = 0; i < kept; i += k) {
		for (k = 1; i + k < kept; k++)
			if (s->values[i + k].kase != s->values[i].kase ||
			    s->values[i + k].metric != s->values[i].metric)
				break;
		add_series(h, &s->values[i], k);
	}
	free(cases);
	free(metrics);
}

static int
by_config(const void *a, const void *b)
{
	const struct loss *x = a, *y = b;
	struct str s = {0}, t = {0};
	int c;

	record_room(&s, x->config);
	record_room(&t, y->config);
	c = strverscmp(s.s, t.s);
	c = c ? c : (x->failed < y->failed) - (x->failed > y->failed);
	c = c ? c : strcmp(x->error ? x->error : "", y->error ? y->error : "");
	str_free(&s);
	str_free(&t);
	return c;
}

int
branch_read(struct branch *h, const char *const *files, size_t n)
{
	struct jsonl *in = jsonl_open(files, n);
	struct store *s = mem_new(sizeof *s);
	int rc;

	*h = (struct branch){.store = s};
	s->cases = names_new();
	s->metrics = names_new();
	s->keys = names_new();
	s->seen = seen_new();
	s->ancestry = ancestry_new();
	rc = collect(h, in);
	jsonl_close(in);
	order(h);
	group(h);
	if (h->nlosses)
		qsort(h->losses, h->nlosses, sizeof *h->losses, by_config);
	if (h->npoints && ancestry_length(s->ancestry))
		h->length = branch_width(h, 0, h->npoints - 1);
	h->names = casename_new(s->configs, s->ncases);
	return rc;
}

void
branch_free(struct branch *h)
{
	struct store *s = h->store;

	for (size_t i = 0; i < h->npoints + h->nlost; i++) {
		free(h->points[i].name);
	}
	for (size_t i = 0; i < h->nseries; i++)
		free(h->series[i].v);
	free(h->points);
	free(h->series);
	free(h->losses);
	casename_free(h->names);
	for (size_t i = 0; s && i < s->nrecs; i++)
		json_free(s->recs[i]);
	if (s) {
		names_free(s->cases);
		names_free(s->metrics);
		names_free(s->keys);
		seen_free(s->seen);
		ancestry_free(s->ancestry);
		free(s->recs);
		free(s->configs);
		free(s->values);
	}
	free(s);
	*h = (struct branch){0};
}

/* "2026-03-02", perhaps with a time behind it. */
static bool
is_date(const char *s)
{
	static const char shape[] = "dddd-dd-dd";

	for (size_t i = 0; shape[i]; i++)
		if (shape[i] == 'd' ? s[i] < '0' || s[i] > '9'
				    : s[i] != shape[i])
			return false;
	return s[10] == '\0' || s[10] == 'T';
}

static bool
means(const struct point *p, const char *name)
{
	const char *label = json_get_str(p->subject, "label");
	const char *ref = json_get_str(p->subject, "ref");

	return (label && strcmp(label, name) == 0) ||
	    (ref && strcmp(ref, name) == 0) ||
	    (p->commit && strlen(name) >= 4 && str_starts(p->commit, name));
}

long
branch_since(const struct branch *h, const char *since)
{
	const struct ancestry *a = h->store->ancestry;
	bool date = is_date(since), any = false;
	double at = -1;

	for (size_t i = 0; i < h->npoints; i++) {
		const struct point *p = &h->points[i];

		if (date ? p->time && strcmp(p->time, since) >= 0
			 : means(p, since))
			return (long)i;
		any |= p->time != NULL;
	}
	if (date && any)
		return (long)h->npoints;
	if (date)
		return err_fail("option '--since': no commit says its time");
	/* It need not be measured itself. */
	if (ancestry_length(a) &&
	    ancestry_find(a, since, NULL, &at) == ANCESTRY_LINE) {
		for (size_t i = 0; i < h->npoints; i++)
			if (h->points[i].at >= at)
				return (long)i;
		return (long)h->npoints;
	}
	return err_fail(
	    "option '--since': '%s' is no commit of this history", since);
}

/* Places on the line, from the one after the point before 'lo'. */
static bool
span(const struct branch *h, size_t lo, double *from)
{
	if (!ancestry_length(h->store->ancestry))
		return false;
	*from = lo ? floor(h->points[lo - 1].at) + 1 : h->points[0].at;
	return *from >= 0;
}

const char *
branch_after(const struct branch *h, size_t lo)
{
	double from;

	if (!span(h, lo, &from) || from > h->points[lo].at)
		return h->points[lo].commit;
	return ancestry_id(h->store->ancestry, (size_t)from);
}

size_t
branch_width(const struct branch *h, size_t lo, size_t hi)
{
	double from;

	if (!span(h, lo, &from) || from > h->points[hi].at)
		return hi - lo + 1;
	return (size_t)(h->points[hi].at - from) + 1;
}
