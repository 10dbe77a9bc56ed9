#include "summary.h"
#include "course.h"
#include "digest.h"
#include "group.h"
#include "hist.h"
#include "histcodec.h"
#include "json.h"
#include "jsonhash.h"
#include "jsonl.h"
#include "mem.h"
#include "places.h"
#include "record.h"
#include "runline.h"
#include "scratch.h"
#include "seen.h"
#include "sink.h"
#include "str.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Subject and config as a run line has them, and what they mean. */
struct memo {
	uint64_t hash;  /* of their texts */
	uint64_t rooms; /* what they add to the hash of the record */
	struct group *group;
	char *text;
	size_t nsubject, nconfig;
};

struct summary {
	struct group **groups;
	size_t n, cap;
	size_t *table; /* open addressing: index + 1 */
	size_t slots;
	struct memo *memos; /* open addressing */
	size_t nmemos, memoslots;
	struct runlines *lines;
	struct str session; /* of the last run line */
	struct places *places;
	double precision; /* wanted; 0: nobody asked */
	bool sorted;
	struct group *last; /* the one a run was added to */
	struct seen *seen;
	uint32_t *rank; /* of the sessions, by name */
	struct scratch *scratch;
	size_t bytes, most; /* of rows in memory; 0: as many as there are */
};

/* Beyond so many, only the one at work keeps its histograms open. */
#define OPEN 64

struct summary *
summary_new(void)
{
	struct summary *s = mem_new(sizeof *s);

	s->seen = seen_new();
	s->places = places_new();
	s->lines = runlines_new();
	return s;
}

void
summary_want(struct summary *s, double precision)
{
	s->precision = precision;
}

static void
forget(struct summary *s)
{
	for (size_t i = 0; i < s->memoslots; i++)
		free(s->memos[i].text);
	free(s->memos);
	s->memos = NULL;
	s->nmemos = s->memoslots = 0;
}

void
summary_free(struct summary *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->n; i++)
		group_free(s->groups[i]);
	forget(s);
	str_free(&s->session);
	runlines_free(s->lines);
	places_free(s->places);
	free(s->groups);
	free(s->table);
	free(s->rank);
	seen_free(s->seen);
	scratch_free(s->scratch);
	free(s);
}

void
summary_spill(struct summary *s, const char *dir, size_t most)
{
	s->scratch = scratch_new(dir);
	s->most = most;
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
find_group(struct summary *s, unsigned long long h, const struct json *subject,
    const struct json *config)
{
	struct group *g;
	size_t at;

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

/* Of a record and of what its group is known by; the order of keys is
 * nothing. */
static unsigned long long
hash(const struct json *rec, unsigned long long *group)
{
	unsigned long long all = 0, of[2] = {0};
	static const char *const rooms[] = {"subject", "config"};

	for (const struct json *j = json_first(rec); j; j = json_next(j)) {
		const char *key = json_key(j);
		unsigned long long h = json_hash(j);

		for (size_t i = 0; i < 2; i++)
			if (strcmp(key, rooms[i]) == 0)
				of[i] = h;
		all += jsonhash_member(key, strlen(key), h);
	}
	*group = of[0] * 31 + of[1];
	return all;
}

/* Every group's rows go to the file. */
static int
spill(struct summary *s)
{
	for (size_t i = 0; i < s->n; i++)
		if (rows_spill(&s->groups[i]->rows, s->scratch) < 0) {
			s->most = 0; /* then all of it stays in memory */
			return -1;
		}
	s->bytes = 0;
	return 0;
}

/* After a run of the group. */
static int
added(struct summary *s, struct group *g, size_t before, int rc)
{
	s->bytes += rows_bytes(&g->rows) - before;
	if (s->most && s->bytes > s->most && spill(s) < 0)
		return -1;
	return rc;
}

/* The run is to be counted. Without a session two may be alike. */
static bool
new_run(struct summary *s, struct group *g, uint32_t session, uint64_t hash)
{
	if (session != PLACES_UNKNOWN && seen_add(s->seen, hash)) {
		g->doubled++;
		return false;
	}
	if (s->last && s->last != g && s->n > OPEN)
		group_shrink(s->last);
	s->last = g;
	return true;
}

int
summary_add(struct summary *s, const struct json *rec, const char *where)
{
	uint32_t session =
	    places_add(s->places, json_get_str(json_get(rec, "run"), "session"),
		json_get_str(json_get(rec, "env"), "host"));
	unsigned long long of, h = hash(rec, &of);
	struct group *g = find_group(
	    s, of, json_get(rec, "subject"), json_get(rec, "config"));
	size_t before = rows_bytes(&g->rows);

	if (!new_run(s, g, session, h))
		return 0;
	return added(s, g, before, group_add(g, rec, session, where));
}

static bool
same_rooms(const struct memo *m, const struct runline *r)
{
	return m->nsubject == r->subject.n && m->nconfig == r->config.n &&
	    memcmp(m->text, r->subject.s, m->nsubject) == 0 &&
	    memcmp(m->text + m->nsubject, r->config.s, m->nconfig) == 0;
}

/* The slot of the texts, or the empty one where they belong. */
static struct memo *
slot_of(const struct summary *s, uint64_t hash, const struct runline *r)
{
	size_t at = hash & (s->memoslots - 1);

	while (s->memos[at].text &&
	    (s->memos[at].hash != hash || !same_rooms(&s->memos[at], r)))
		at = (at + 1) & (s->memoslots - 1);
	return &s->memos[at];
}

/* Twice the room; or none of it, where one group has many texts. */
static void
more_memos(struct summary *s)
{
	struct memo *was = s->memos, *to;
	size_t n = s->memoslots;

	if (n > 4096 && s->nmemos > 4 * s->n) {
		forget(s);
		was = NULL;
		n = 0;
	}
	s->memoslots = n ? 2 * n : 64;
	s->memos = mem_array(s->memoslots, sizeof *s->memos);
	for (size_t i = 0; i < n; i++) {
		if (!was[i].text)
			continue;
		to = &s->memos[was[i].hash & (s->memoslots - 1)];
		while (to->text)
			to = to + 1 < s->memos + s->memoslots ? to + 1
							      : s->memos;
		*to = was[i];
	}
	free(was);
}

/* The memo of the run's texts, or the empty one where it belongs. */
static struct memo *
memo(struct summary *s, const struct runline *r)
{
	uint64_t h =
	    jsonhash_bytes(jsonhash_bytes(0, r->subject.s, r->subject.n),
		r->config.s, r->config.n);
	struct memo *m;

	if (2 * (s->nmemos + 1) > s->memoslots)
		more_memos(s);
	m = slot_of(s, h, r);
	m->hash = h;
	return m;
}

static void
remember(struct summary *s, struct memo *m, const struct runline *r)
{
	struct json *subject, *config;
	uint64_t a, b;

	subject = json_parse(r->subject.s, r->subject.n, NULL, NULL);
	config = json_parse(r->config.s, r->config.n, NULL, NULL);
	a = json_hash(subject);
	b = json_hash(config);
	m->rooms =
	    jsonhash_member("subject", 7, a) + jsonhash_member("config", 6, b);
	m->group = find_group(s, a * 31 + b, subject, config);
	m->nsubject = r->subject.n;
	m->nconfig = r->config.n;
	m->text = mem_resize(NULL, m->nsubject + m->nconfig, 1);
	memcpy(m->text, r->subject.s, m->nsubject);
	memcpy(m->text + m->nsubject, r->config.s, m->nconfig);
	s->nmemos++;
	json_free(subject);
	json_free(config);
}

static int
add_line(struct summary *s, struct memo *m, const struct runline *r,
    const char *where)
{
	struct group *g;
	uint32_t session;
	size_t before;

	if (!m->text)
		remember(s, m, r);
	g = m->group;
	before = rows_bytes(&g->rows);
	str_clear(&s->session);
	str_addn(&s->session, r->session.s ? r->session.s : "", r->session.n);
	group_env(g, r->env.s ? r->env.s : "", r->env.n);
	session =
	    places_add(s->places, r->session.s ? s->session.s : NULL, g->host);
	if (!new_run(s, g, session, r->hash + m->rooms + g->env_hash))
		return 0;
	return added(s, g, before, group_add_line(g, r, session, where));
}

int
summary_next(struct summary *s, struct jsonl *in, struct json **rec)
{
	struct runline r;
	const char *text;
	struct memo *m;
	bool known;
	size_t n;
	int rc;

	*rec = NULL;
	while ((rc = jsonl_text(in, &text, &n)) > 0) {
		if (!runline_read(s->lines, &r, text, n))
			return record_tree(in, rec);
		m = memo(s, &r);
		known = m->text && group_knows(m->group, r.env.s, r.env.n);
		if (!known && !runline_rooms(&r, text, n))
			return record_tree(in, rec);
		if (add_line(s, m, &r, jsonl_where(in)) < 0)
			return -1;
	}
	return rc;
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

		group_settle(g);
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
	free(s->rank);
	s->rank = places_order(s->places);
	seen_free(s->seen);
	s->seen = NULL;
	s->sorted = true;
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

/* Sets rec.sessions; gives each run's place in it, NULL for up to one. */
static uint32_t *
sessions(const struct summary *s, const struct rows_run *runs,
    const uint32_t *at, size_t n, struct json *rec)
{
	struct json *names = json_array();
	uint32_t *ids = mem_array(n + 1, sizeof *ids), last = ROWS_UNKNOWN;
	size_t k = 0;

	for (size_t i = 0; i < n; i++) {
		uint32_t id = runs[at[i]].session;

		if (id != ROWS_UNKNOWN && (k == 0 || id != last)) {
			json_push(
			    names, json_string(places_session(s->places, id)));
			last = id;
			k++;
		}
		ids[at[i]] = k ? (uint32_t)k - 1 : 0;
	}
	if (k)
		json_set(rec, "sessions", names);
	else
		json_free(names);
	if (k > 1)
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
			   : group_decode(m[i].text, strlen(m[i].text),
				 m[i].name, "summary");
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
		else if (e->n == g->rows.n + g->failed)
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

/* "metrics":{...}; 0, or -1 and said. */
static int
metrics(struct sink *o, const struct summary *s, struct group *g,
    struct digest *d, bool brief)
{
	double *v = mem_array(d->n + 1, sizeof *v);
	int rc = 0;

	str_add(&o->s, ",\"metrics\":{");
	for (size_t c = 0; c < g->rows.ncols && rc == 0; c++) {
		struct json *name = json_string(g->rows.cols[c].name);

		if (c)
			str_addc(&o->s, ',');
		json_append(&o->s, name);
		str_add(&o->s, ":{");
		rc = rows_values(&g->rows, s->scratch, c, v);
		if (rc == 0)
			digest_write(o, d, g->rows.cols[c].name, v, brief);
		str_addc(&o->s, '}');
		json_free(name);
	}
	str_addc(&o->s, '}');
	free(v);
	return rc;
}

/* The members of a record before its metrics. */
static struct json *
head(const struct group *g)
{
	struct json *j = record_new("summary");

	json_set(j, "subject", record_sorted(g->subject));
	json_set(j, "config", record_sorted(g->config));
	json_set_num(j, "n", (double)g->rows.n);
	json_set_num(j, "failed", (double)g->failed);
	if (g->doubled)
		json_set_num(j, "doubled", (double)g->doubled);
	return j;
}

/* And those behind. */
static struct json *
tail(struct group *g, const uint32_t *at, bool brief)
{
	struct json *j = json_object();

	if (!brief)
		histograms(g, j);
	environment(g, j);
	counts(g, j);
	course_summary(g->course, at, g->rows.n, g->failed, j);
	if (brief)
		json_del(j, "quantiles");
	return j;
}

/* Of each run, from 1; 0: it names no session. Caller frees. */
static uint32_t *
machines(const struct summary *s, const struct rows_run *runs, size_t n)
{
	uint32_t *m = mem_array(n + 1, sizeof *m);

	for (size_t i = 0; i < n; i++)
		if (runs[i].session != ROWS_UNKNOWN)
			m[i] = 1 +
			    (uint32_t)places_machine(
				s->places, runs[i].session);
	return m;
}

/* The record of a group, without its end; 0, or -1 and said. */
static int
put(struct sink *o, struct summary *s, struct group *g, bool brief)
{
	size_t n = g->rows.n;
	struct rows_run *runs = mem_array(n + 1, sizeof *runs);
	uint32_t *at = NULL, *ids = NULL, *of = NULL;
	struct json *j = head(g);
	struct digest d;
	int rc = -1;

	if (rows_runs(&g->rows, s->scratch, runs) < 0)
		goto out;
	at = rows_order(&g->rows, s->scratch, runs, s->rank);
	if (!at)
		goto out;
	ids = sessions(s, runs, at, n, j);
	of = machines(s, runs, n);
	json_append(&o->s, j);
	o->s.len--; /* the bracket: there is more */
	d = (struct digest){
	    runs, at, ids, of, n, g->course, s->precision, true, true};
	digest_places(&d);
	if (metrics(o, s, g, &d, brief) < 0)
		goto out;
	json_free(j);
	j = tail(g, at, brief);
	digest_members(o, j);
	rc = 0;
out:
	json_free(j);
	free(runs);
	free(at);
	free(ids);
	free(of);
	return rc;
}

const char *
summary_key(struct summary *s, size_t i)
{
	sort_groups(s);
	return s->groups[i]->key.s;
}

int
summary_write(struct summary *s, size_t i, int fd)
{
	struct sink o = {.fd = fd};
	int rc;

	sort_groups(s);
	rc = put(&o, s, s->groups[i], false);
	if (rc == 0)
		str_addc(&o.s, '}');
	else
		str_clear(&o.s); /* a line that is begun is cut short */
	if (rc == 0 || o.begun)
		str_addc(&o.s, '\n');
	return sink_close(&o) < 0 ? -1 : rc;
}

static struct json *
record(struct summary *s, size_t i, bool brief)
{
	struct sink o = {.fd = -1};
	struct json *rec = NULL;

	sort_groups(s);
	if (put(&o, s, s->groups[i], brief) == 0) {
		str_addc(&o.s, '}');
		rec = json_parse(o.s.s, o.s.len, NULL, NULL);
	}
	sink_close(&o);
	return rec;
}

struct json *
summary_record(struct summary *s, size_t i)
{
	return record(s, i, false);
}

struct json *
summary_brief(struct summary *s, size_t i)
{
	return record(s, i, true);
}
