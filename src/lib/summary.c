#include "summary.h"
#include "course.h"
#include "group.h"
#include "hist.h"
#include "histcodec.h"
#include "json.h"
#include "mem.h"
#include "places.h"
#include "record.h"
#include "seen.h"
#include "spread.h"
#include "stats.h"
#include "str.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define OUTLIER 5 /* modified z above this, */
#define ENOUGH 5  /* among at least so many values */

struct summary {
	struct group **groups;
	size_t n, cap;
	size_t *table; /* open addressing: index + 1 */
	size_t slots;
	struct places *places;
	double precision; /* wanted; 0: nobody asked */
	bool sorted;
	struct group *last; /* the one a run was added to */
	struct seen *seen;
};

/* Beyond so many, only the one at work keeps its histograms open. */
#define OPEN 64

struct summary *
summary_new(void)
{
	struct summary *s = mem_new(sizeof *s);

	s->seen = seen_new();
	s->places = places_new();
	return s;
}

void
summary_want(struct summary *s, double precision)
{
	s->precision = precision;
}

void
summary_free(struct summary *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->n; i++)
		group_free(s->groups[i]);
	places_free(s->places);
	free(s->groups);
	free(s->table);
	seen_free(s->seen);
	free(s);
}

static void
rehash(struct summary *s)
{
	s->slots = s->slots ? 2 * s->slots : 64;
	free(s->table);
	s->table = mem_array(s->slots, sizeof *s->table);
	for (size_t i = 0; i < s->n; i++) {
		size_t at = s->groups[i]->hash % s->slots;

		while (s->table[at])
			at = (at + 1) % s->slots;
		s->table[at] = i + 1;
	}
}

static struct group *
find_group(
    struct summary *s, const struct json *subject, const struct json *config)
{
	unsigned long long h = json_hash(subject);
	struct group *g;
	size_t at;

	h = h * 31 + json_hash(config);
	if (2 * (s->n + 1) > s->slots)
		rehash(s);
	for (at = h % s->slots; s->table[at]; at = (at + 1) % s->slots) {
		g = s->groups[s->table[at] - 1];
		if (g->hash == h && json_equal(g->config, config) &&
		    json_equal(g->subject, subject))
			return g;
	}
	g = mem_new(sizeof *g);
	g->hash = h;
	g->subject = json_dup(subject);
	g->config = json_dup(config);
	s->groups = mem_grow(s->groups, s->n, &s->cap, sizeof(struct group *));
	s->groups[s->n++] = g;
	s->table[at] = s->n;
	s->sorted = false;
	return g;
}

int
summary_add(struct summary *s, const struct json *rec, const char *where)
{
	struct group *g =
	    find_group(s, json_get(rec, "subject"), json_get(rec, "config"));
	uint32_t session = places_add(s->places, rec);

	/* Without a session two runs may be alike. */
	if (session != PLACES_UNKNOWN && seen_add(s->seen, json_hash(rec))) {
		g->doubled++;
		return 0;
	}
	if (s->last && s->last != g && s->n > OPEN)
		group_shrink(s->last);
	s->last = g;
	return group_add(g, rec, session, where);
}

static int
by_key(const void *a, const void *b)
{
	const struct group *const *x = a, *const *y = b;

	int c = strverscmp((*x)->key.s, (*y)->key.s); /* 64 before 4096 */

	return c ? c : strcmp((*x)->key.s, (*y)->key.s);
}

size_t
summary_count(const struct summary *s)
{
	return s->n;
}

static void
sort_groups(struct summary *s)
{
	if (s->sorted)
		return;
	for (size_t i = 0; i < s->n; i++) {
		struct group *g = s->groups[i];

		str_clear(&g->key);
		record_room(&g->key, g->config);
		str_addc(&g->key, '\n');
		record_room(&g->key, g->subject);
	}
	if (s->n)
		qsort(s->groups, s->n, sizeof *s->groups, by_key);
	free(s->table);
	s->table = NULL;
	s->slots = 0;
	s->sorted = true;
}

static int
by_name(const void *a, const void *b)
{
	const struct group_column *x = a, *y = b;

	return strcmp(x->name, y->name);
}

static int
by_setting(const void *a, const void *b)
{
	const struct group_setting *x = a, *y = b;

	return strcmp(x->name, y->name);
}

static int
by_text(const void *a, const void *b)
{
	const struct group_tally *x = a, *y = b;

	return strcmp(x->text, y->text);
}

/* The finest and widest layout first. */
static int
by_layout(const void *a, const void *b)
{
	const struct group_hist *x = a, *y = b;
	int c = strcmp(x->name, y->name);

	c = c ? c : y->digits - x->digits;
	c = c ? c : (x->lowest > y->lowest) - (x->lowest < y->lowest);
	return c ? c : (x->highest < y->highest) - (x->highest > y->highest);
}

struct sorting {
	const struct group *g;
	const struct places *places;
};

static int
order_of(uint32_t a, uint32_t b)
{
	return (a > b) - (a < b);
}

static int
by_run(const void *a, const void *b, void *arg)
{
	const struct sorting *s = arg;
	size_t i = *(const size_t *)a, k = *(const size_t *)b;
	const struct group_run *x = &s->g->runs[i], *y = &s->g->runs[k];
	int c = 0;

	if (x->session != y->session) {
		if (x->session == GROUP_UNKNOWN || y->session == GROUP_UNKNOWN)
			return x->session == GROUP_UNKNOWN ? 1 : -1;
		return strcmp(places_session(s->places, x->session),
		    places_session(s->places, y->session));
	}
	c = c ? c : order_of(x->block, y->block);
	c = c ? c : order_of(x->index, y->index);
	c = c ? c : order_of(x->order, y->order);
	for (size_t j = 0; j < s->g->ncols && !c; j++) {
		double p = s->g->cols[j].v[i], q = s->g->cols[j].v[k];

		c = isnan(p) - isnan(q);
		c = c ? c : (p > q) - (p < q);
	}
	return c;
}

/* What a summary knows of its runs, in the order 'at'. */
struct order {
	size_t *at;
	size_t *ids; /* place in rec.sessions; NULL: there is up to one */
	size_t *machines;
	bool placed; /* each has a session, */
	bool timed;  /* and its place in it */
};

/* Caller frees what is in it; .ids are not set. */
static struct order
in_order(const struct summary *s, struct group *g)
{
	struct order o = {.at = mem_array(g->n + 1, sizeof *o.at),
	    .machines = mem_array(g->n + 1, sizeof *o.machines),
	    .placed = true,
	    .timed = true};
	struct sorting arg = {g, s->places};

	if (g->ncols)
		qsort(g->cols, g->ncols, sizeof *g->cols, by_name);
	for (size_t i = 0; i < g->n; i++) {
		const struct group_run *w = &g->runs[i];

		o.at[i] = i;
		if (w->block == GROUP_UNKNOWN && w->index == GROUP_UNKNOWN &&
		    w->order == GROUP_UNKNOWN)
			o.timed = false;
		if (w->session == GROUP_UNKNOWN)
			o.placed = o.timed = false;
		else
			o.machines[i] =
			    1 + places_machine(s->places, w->session);
	}
	qsort_r(o.at, g->n, sizeof *o.at, by_run, &arg);
	return o;
}

static struct json *
outlier(size_t at, uint32_t index, double v, double z)
{
	struct json *o = json_object();

	json_set_num(o, "at", (double)at);
	if (index != GROUP_UNKNOWN)
		json_set_num(o, "index", index);
	json_set_num(o, "value", v);
	json_set_num(o, "z", z); /* absent where the MAD is 0 */
	return o;
}

static void
pair_of(struct json *m, const char *key, double lo, double hi)
{
	struct json *a = json_array();

	json_push_num(a, lo);
	json_push_num(a, hi);
	json_set(m, key, a);
}

/* What the runs with this metric say of its noise. */
static void
noise(const struct summary *s, const struct group *g,
    const struct group_column *c, const struct order *o, struct json *m)
{
	struct varsplit_run *runs = mem_array(g->n + 1, sizeof *runs);
	size_t n = 0, known;
	const double *within = course_within(g->course, c->name, &known);

	for (size_t i = 0; i < g->n; i++) {
		size_t k = o->at[i];

		if (isnan(c->v[k]))
			continue;
		runs[n].value = c->v[k];
		runs[n].within = k < known ? within[k] : NAN;
		runs[n].session = o->placed && o->ids ? o->ids[k] : 0;
		runs[n++].machine = o->placed ? o->machines[k] : 0;
	}
	spread_add(m, runs, n, o->timed, s->precision);
	free(runs);
}

/* One metric. */
static struct json *
metric(const struct summary *s, const struct group *g,
    const struct group_column *c, const struct order *o)
{
	const size_t *at = o->at, *ids = o->ids;
	struct json *m = json_object(), *values = json_array();
	struct json *blocks = json_array(), *of = json_array();
	struct json *out = json_array();
	double *v = mem_array(g->n + 1, sizeof *v), mean, sd, mid, mad, lag1,
	       lo, hi;
	const char *method;
	bool blocked = true;
	size_t n = 0;

	for (size_t i = 0; i < g->n; i++) {
		const struct group_run *w = &g->runs[at[i]];

		if (isnan(c->v[at[i]]))
			continue;
		v[n++] = c->v[at[i]];
		json_push_num(values, c->v[at[i]]);
		if (w->block == GROUP_UNKNOWN || w->session == GROUP_UNKNOWN)
			blocked = false;
		json_push_num(blocks, w->block);
		if (ids)
			json_push_num(of, (double)ids[at[i]]);
	}
	lag1 = stats_lag1(v, n);
	stats_sort(v, n);
	mean = stats_mean(v, n);
	sd = stats_sd(v, n);
	mid = stats_median(v, n);
	mad = stats_mad(v, n);
	json_set_num(m, "n", (double)n);
	json_set_num(m, "median", mid);
	json_set_num(m, "mean", mean);
	json_set_num(m, "sd", sd);
	if (mean != 0)
		json_set_num(m, "cv_percent", 100 * sd / fabs(mean));
	method = stats_ci(v, n, .95, &lo, &hi);
	if (method) {
		pair_of(m, "ci95", lo, hi);
		json_set_str(m, "ci95_method", method);
	}
	if (n >= 2)
		json_set_num(m, "mad", mad);
	if (n >= 2 && mid != 0) {
		json_set_num(
		    m, "robust_cv_percent", 100 * 1.4826 * mad / fabs(mid));
		json_set_num(m, "iqr_percent",
		    100 *
			(stats_quantile(v, n, .75) -
			    stats_quantile(v, n, .25)) /
			fabs(mid));
	}
	json_set_num(m, "lag1", lag1);
	noise(s, g, c, o, m);
	if (stats_bimodal(v, n))
		json_set_bool(m, "bimodal", true);
	json_set_num(m, "min", v[0]);
	json_set_num(m, "max", v[n - 1]);
	for (size_t i = 0, place = 0; i < g->n && n >= ENOUGH; i++) {
		double x = c->v[at[i]], z;

		if (isnan(x))
			continue;
		z = stats_modified_z(x, mid, mad);
		if (z > OUTLIER)
			json_push(
			    out, outlier(place, g->runs[at[i]].index, x, z));
		place++;
	}
	json_set(m, "values", values);
	if (blocked)
		json_set(m, "blocks", blocks);
	else
		json_free(blocks);
	if (blocked && ids)
		json_set(m, "sessions", of);
	else
		json_free(of);
	if (json_first(out))
		json_set(m, "outliers", out);
	else
		json_free(out);
	free(v);
	return m;
}

/* Sets rec.sessions; returns each run's place in it, NULL for up to one. */
static size_t *
sessions(const struct summary *s, const struct group *g, const size_t *at,
    struct json *rec)
{
	struct json *names = json_array();
	size_t *ids = mem_array(g->n + 1, sizeof *ids), n = 0;
	uint32_t last = GROUP_UNKNOWN;

	for (size_t i = 0; i < g->n; i++) {
		uint32_t id = g->runs[at[i]].session;

		if (id != GROUP_UNKNOWN && (n == 0 || id != last)) {
			json_push(
			    names, json_string(places_session(s->places, id)));
			last = id;
			n++;
		}
		ids[at[i]] = n ? n - 1 : 0;
	}
	if (n)
		json_set(rec, "sessions", names);
	else
		json_free(names);
	if (n > 1)
		return ids;
	free(ids);
	return NULL;
}

/* latency_ns: "latency", and what a unit is in ms; 0: not a time. */
static double
scale_of(const char *name, struct str *stem)
{
	static const struct {
		const char *suffix;
		double ms;
	} units[] = {{"_ns", 1e-6}, {"_us", 1e-3}, {"_ms", 1}, {"_s", 1e3}};

	for (size_t i = 0; i < sizeof units / sizeof *units; i++)
		if (str_ends(name, units[i].suffix)) {
			str_addn(
			    stem, name, strlen(name) - strlen(units[i].suffix));
			return units[i].ms;
		}
	return 0;
}

/* Percentiles that at least ten counts lie beyond. */
static void
percentiles(struct json *to, const char *name, const struct hist *h)
{
	static const struct {
		const char *name;
		double q;
	} ps[] = {{"p50", .5}, {"p90", .9}, {"p95", .95}, {"p99", .99},
	    {"p999", .999}, {"p9999", .9999}};
	struct str stem = {0}, key = {0};
	double ms = scale_of(name, &stem), n = (double)hist_count(h);

	if (ms > 0 && n > 0) {
		for (size_t i = 0; i < sizeof ps / sizeof *ps; i++) {
			if (n * (1 - ps[i].q) < 10 - 1e-9)
				break;
			str_clear(&key);
			str_printf(&key, "%s_%s_ms", ps[i].name, stem.s);
			json_set_num(
			    to, key.s, ms * (double)hist_quantile(h, ps[i].q));
		}
		str_clear(&key);
		str_printf(&key, "max_%s_ms", stem.s);
		json_set_num(to, key.s, ms * (double)hist_max(h));
		str_clear(&key);
		str_printf(&key, "%s_count", stem.s);
		json_set_num(to, key.s, n);
	}
	str_free(&stem);
	str_free(&key);
}

/* The first n, which have one name, in one layout that holds all. */
static struct hist *
united(const struct group_hist *m, size_t n)
{
	int64_t lowest = m->lowest, highest = m->highest;
	struct hist *all, *h;

	for (size_t i = 1; i < n; i++) {
		lowest = m[i].lowest < lowest ? m[i].lowest : lowest;
		highest = m[i].highest > highest ? m[i].highest : highest;
	}
	all = hist_new(lowest, highest, m->digits);
	for (size_t i = 0; i < n; i++) {
		h = m[i].h ? m[i].h
			   : group_decode(m[i].text, m[i].name, "summary");
		if (h)
			hist_merge(all, h);
		if (!m[i].h)
			hist_free(h);
	}
	return all;
}

static void
histograms(struct group *g, struct json *rec)
{
	struct json *texts = json_object(), *all = json_object();

	if (g->nhists)
		qsort(g->hists, g->nhists, sizeof *g->hists, by_layout);
	for (size_t i = 0, n; i < g->nhists; i += n) {
		const struct group_hist *m = &g->hists[i];
		struct str text = {0};
		struct hist *h;

		for (n = 1; i + n < g->nhists; n++)
			if (strcmp(m[n].name, m->name) != 0)
				break;
		h = united(m, n);
		percentiles(all, m->name, h);
		histcodec_encode(&text, h);
		json_set_str(texts, m->name, text.s);
		str_free(&text);
		hist_free(h);
	}
	if (json_first(texts)) {
		json_set(rec, "hist", texts);
		json_set(rec, "whole", all);
	} else {
		json_free(texts);
		json_free(all);
	}
}

static void
environment(struct group *g, struct json *rec)
{
	struct json *env = json_object(), *varied = json_array();

	if (g->nenv)
		qsort(g->env, g->nenv, sizeof *g->env, by_setting);
	for (size_t i = 0; i < g->nenv; i++) {
		const struct group_setting *e = &g->env[i];

		if (e->varied)
			json_push(varied, json_string(e->name));
		else if (e->n == g->n + g->failed)
			json_set(env, e->name, record_sorted(e->value));
	}
	json_set(rec, "env", env);
	if (json_first(varied))
		json_set(rec, "env_varied", varied);
	else
		json_free(varied);
}

static void
counts(struct group *g, struct json *rec)
{
	struct json *j;

	if (g->nbound) {
		qsort(g->bound, g->nbound, sizeof *g->bound, by_text);
		j = json_object();
		for (size_t i = 0; i < g->nbound; i++)
			json_set_num(
			    j, g->bound[i].text, (double)g->bound[i].n);
		json_set(rec, "bound", j);
	}
	if (g->nerrors) {
		qsort(g->errors, g->nerrors, sizeof *g->errors, by_text);
		j = json_array();
		for (size_t i = 0; i < g->nerrors; i++)
			json_push(j, json_string(g->errors[i].text));
		json_set(rec, "errors", j);
	}
}

struct json *
summary_record(struct summary *s, size_t i)
{
	struct json *rec = record_new("summary"), *metrics = json_object();
	struct group *g;
	struct order o;

	sort_groups(s);
	g = s->groups[i];
	o = in_order(s, g);
	json_set(rec, "subject", record_sorted(g->subject));
	json_set(rec, "config", record_sorted(g->config));
	json_set_num(rec, "n", (double)g->n);
	json_set_num(rec, "failed", (double)g->failed);
	if (g->doubled)
		json_set_num(rec, "doubled", (double)g->doubled);
	o.ids = sessions(s, g, o.at, rec);
	for (size_t c = 0; c < g->ncols; c++)
		json_set(
		    metrics, g->cols[c].name, metric(s, g, &g->cols[c], &o));
	json_set(rec, "metrics", metrics);
	histograms(g, rec);
	environment(g, rec);
	counts(g, rec);
	course_summary(g->course, o.at, g->n, g->failed, rec);
	free(o.ids);
	free(o.at);
	free(o.machines);
	return rec;
}
