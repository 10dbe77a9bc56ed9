#include "model.h"
#include "caseset.h"
#include "err.h"
#include "json.h"
#include "jsonl.h"
#include "mem.h"
#include "intern.h"
#include "order.h"
#include "record.h"
#include "str.h"
#include "summary.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define SPILL (64 * 1048576) /* bytes of values kept in memory */

static const char *const verdict_names[MODEL_VERDICTS] = {"regression",
    "likely regression", "improvement", "likely improvement", "different",
    "likely different", "inconclusive", "insufficient", "equivalent"};

const char *
model_verdict_name(enum model_verdict v)
{
	return verdict_names[v];
}

static enum model_verdict
parse_verdict(const char *s)
{
	for (size_t i = 0; s && i < MODEL_VERDICTS; i++)
		if (strcmp(verdict_names[i], s) == 0)
			return (enum model_verdict)i;
	return MODEL_INCONCLUSIVE;
}

/* --- interned subjects, cases and cells */

static struct subject *
add_subject(struct model *m, const struct json *json)
{
	size_t id = caseset_add_value(m->subject_set, json);
	struct subject *s;

	if (id < m->nsubjects)
		return m->subjects[id];
	m->subjects =
	    mem_grow(m->subjects, m->nsubjects, &m->scap, sizeof *m->subjects);
	s = m->subjects[m->nsubjects++] = mem_new(sizeof *s);
	s->json = json_dup(json);
	s->time = json_get_str(s->json, "time");
	return s;
}

static struct kase *
add_case(struct model *m, const struct json *config)
{
	size_t id = caseset_add_value(m->config_set, config);
	struct kase *k;

	if (id < m->ncases)
		return m->cases[id];
	m->cases = mem_grow(m->cases, m->ncases, &m->kcap, sizeof *m->cases);
	k = m->cases[m->ncases++] = mem_new(sizeof *k);
	k->config = json_dup(config);
	return k;
}

static struct cell *
add_cell(struct model *m, struct kase *kase, struct subject *subject)
{
	size_t id = intern_pair(m->cell_keys, (size_t)kase, (size_t)subject);

	if (id == m->ncells) {
		m->cells =
		    mem_grow(m->cells, m->ncells, &m->ccap, sizeof *m->cells);
		m->cells[m->ncells++] =
		    (struct cell){.kase = kase, .subject = subject};
	}
	return &m->cells[id];
}

/* Adds the cell of the record's case and subject. */
static struct cell *
add_cell_of(struct model *m, const struct json *rec)
{
	return add_cell(m, add_case(m, json_get(rec, "config")),
	    add_subject(m, json_get(rec, "subject")));
}

static void
append_record(struct list *l, struct json *rec)
{
	l->v = mem_grow(l->v, l->n, &l->cap, sizeof *l->v);
	l->v[l->n++] = rec;
}

/* --- records: each function takes ownership of its record */

/* Of two summaries of one cell, keeps the one with more runs. */
static void
take_summary(struct model *m, struct json *rec)
{
	struct cell *c;

	if (!(json_get_num(rec, "n", 0) > 0)) {
		append_record(&m->all_failed, rec);
		return;
	}
	c = add_cell_of(m, rec);
	append_record(&m->others, rec);
	m->duplicates += c->rec != NULL;
	if (!c->rec || json_get_num(rec, "n", 0) > json_get_num(c->rec, "n", 0))
		c->rec = rec;
}

static double
get_at(const struct json *pair, size_t i)
{
	return json_num(json_at(pair, i), NAN);
}

static void
take_delta(struct model *m, struct json *rec)
{
	struct range ci = model_range(json_get(rec, "ci95"));
	const char *class = json_get_str(rec, "class");
	struct delta d = {
	    .rec = rec,
	    .kase = add_case(m, json_get(rec, "config")),
	    .base = add_subject(m, json_get(rec, "baseline")),
	    .contender = add_subject(m, json_get(rec, "contender")),
	    .metric = json_get_str(rec, "metric"),
	    .verdict = parse_verdict(json_get_str(rec, "verdict")),
	    .gate = class && strcmp(class, "gate") == 0,
	    .waived = json_get(rec, "waiver") != NULL,
	    .ratio = json_get_num(rec, "ratio", NAN),
	    .lo = ci.lo,
	    .hi = ci.hi,
	};

	append_record(&m->others, rec);
	m->deltas = mem_grow(m->deltas, m->ndeltas, &m->dcap, sizeof d);
	m->deltas[m->ndeltas++] = d;
	d.base->baseline = true;
	d.contender->contender = true;
}

static void
take_change(struct model *m, struct json *rec)
{
	struct change c = {
	    .rec = rec,
	    .kase = add_case(m, json_get(rec, "config")),
	    .subject = add_subject(m, json_get(rec, "subject")),
	    .metric = json_get_str(rec, "metric"),
	    .kind = json_get_str(rec, "kind"),
	    .ratio = json_get_num(rec, "ratio", NAN),
	};

	c.way = json_str(json_path(rec, "trend.direction"));
	c.way = c.way ? c.way : c.kind;
	append_record(&m->others, rec);
	m->changes = mem_grow(m->changes, m->nchanges, &m->hcap, sizeof c);
	m->changes[m->nchanges++] = c;
	c.kase->changes++;
}

static void
take_profile(struct model *m, struct json *rec)
{
	if (json_get(rec, "config"))
		add_case(m, json_get(rec, "config"));
	if (json_get(rec, "subject"))
		add_subject(m, json_get(rec, "subject"));
	append_record(&m->profiles, rec);
}

static void
take_comparison(struct model *m, struct json *rec)
{
	add_subject(m, json_get(rec, "baseline"))->baseline = true;
	add_subject(m, json_get(rec, "contender"))->contender = true;
	append_record(&m->comparisons, rec);
}

static void
take_series(struct model *m, struct json *run)
{
	struct json *series = json_detach(run, "series");
	struct cell *c = add_cell_of(m, run);

	if (c->nseries == MODEL_SERIES || !json_first(series)) {
		c->more += json_first(series) != NULL;
		json_free(series);
		return;
	}
	c->series = mem_grow(c->series, c->nseries, &c->cap, sizeof *c->series);
	c->series[c->nseries++] = series;
}

static void
take_search(struct model *m, struct json *run)
{
	struct cell *c = add_cell_of(m, run);

	if (c->searches.n < MODEL_SERIES)
		append_record(&c->searches, json_detach(run, "capacity"));
}

static void
take_run(struct model *m, struct summary *s, struct json *run, int *rc,
    const char *where)
{
	const char *status = json_get_str(run, "status");
	bool ok = status && strcmp(status, "ok") == 0;

	if (summary_add(s, run, where) < 0)
		*rc = -1;
	if (ok && json_get(run, "series"))
		take_series(m, run);
	if (ok && json_get(run, "capacity"))
		take_search(m, run);
	json_free(run);
}

static int
take_all(struct model *m, struct summary *s, struct jsonl *in)
{
	struct json *rec;
	int rc = 0, got;

	while ((got = record_next(in, &rec)) != 0) {
		if (got < 0) {
			rc = -1;
			continue;
		}
		m->records++;
		if (record_is(rec, "run"))
			take_run(m, s, rec, &rc, jsonl_where(in));
		else if (record_is(rec, "summary"))
			take_summary(m, rec);
		else if (record_is(rec, "delta"))
			take_delta(m, rec);
		else if (record_is(rec, "comparison"))
			take_comparison(m, rec);
		else if (record_is(rec, "change"))
			take_change(m, rec);
		else if (record_is(rec, "shift")) {
			add_case(m, json_get(rec, "config"));
			append_record(&m->shifts, rec);
		} else if (record_is(rec, "env"))
			append_record(&m->envs, rec);
		else if (record_is(rec, "profile"))
			take_profile(m, rec);
		else {
			m->records--; /* not a type that is shown */
			json_free(rec);
		}
	}
	return rc;
}

/* --- data derived from all records */

/* Returns the only known subject with these keys and more, else NULL. */
static const struct json *
find_fuller(const struct model *m, size_t known, const struct json *subject)
{
	const struct json *found = NULL;

	for (size_t i = 0; i < known; i++) {
		const struct json *other = m->subjects[i]->json;
		const struct json *j = json_first(subject);

		while (j && json_equal(j, json_get(other, json_key(j))))
			j = json_next(j);
		if (j)
			continue;
		if (found || json_len(other) == json_len(subject))
			return NULL;
		found = other;
	}
	return found;
}

static void
add_failed(struct json *to, const struct json *rec)
{
	const struct json *j = json_first(json_get(rec, "errors"));
	struct json *errors = json_dup(json_get(to, "errors"));

	errors = errors ? errors : json_array();
	for (; j; j = json_next(j))
		json_push(errors, json_dup(j));
	json_set(to, "errors", errors);
	json_set_num(to, "failed",
	    json_get_num(to, "failed", 0) + json_get_num(rec, "failed", 0));
}

/* Adds failures to the fuller subject: a failed run may lack keys of it. */
static void
take_failed_summaries(struct model *m)
{
	struct intern *seen = intern_new();
	size_t known = m->nsubjects;

	for (size_t i = 0; i < m->all_failed.n; i++) {
		struct json *rec = m->all_failed.v[i];
		const struct json *own = json_get(rec, "subject"), *whole;
		struct str key = {0};
		struct cell *c;
		bool again;

		json_canonical(&key, own);
		json_canonical(&key, json_get(rec, "config"));
		again = intern_id(seen, key.s) + 1 < intern_count(seen);
		str_free(&key);
		whole = again ? NULL : find_fuller(m, known, own);
		c = add_cell(m, add_case(m, json_get(rec, "config")),
		    add_subject(m, whole ? whole : own));
		append_record(&m->others, rec);
		m->duplicates += again;
		if (c->rec && !again)
			add_failed(c->rec, rec);
		else if (!c->rec)
			c->rec = rec;
	}
	intern_free(seen);
}

/* Takes failures from a comparison for cases that have no summary. */
static void
fill_failed(struct model *m, const struct json *comparison)
{
	const struct json *j = json_first(json_get(comparison, "failed"));

	for (; j; j = json_next(j)) {
		const char *side = json_get_str(j, "side");
		bool contender = side && strcmp(side, "contender") == 0;
		const struct json *who =
		    json_get(comparison, contender ? "contender" : "baseline");
		struct cell *c;

		if (json_type(j) != JSON_OBJECT ||
		    json_type(json_get(j, "config")) != JSON_OBJECT)
			continue;
		c = add_cell(
		    m, add_case(m, json_get(j, "config")), add_subject(m, who));
		if (json_get(c->rec, "failed"))
			continue;
		if (!c->rec) {
			c->rec = json_object();
			append_record(&m->others, c->rec);
		}
		json_set_num(c->rec, "n", json_get_num(j, "n", 0));
		add_failed(c->rec, j);
	}
}

/* Takes values from a delta for a side that has no summary. */
static void
fill_cell(struct model *m, const struct delta *d, size_t side)
{
	struct cell *c = add_cell(m, d->kase, side ? d->contender : d->base);
	struct json *metrics = json_get(c->rec, "metrics"), *one;
	const struct json *values = json_get(d->rec, "values");

	if (!c->rec) {
		c->rec = json_object();
		json_set(c->rec, "subject", json_dup(c->subject->json));
		json_set(c->rec, "metrics", json_object());
		append_record(&m->others, c->rec);
		metrics = json_get(c->rec, "metrics");
	}
	if (!d->metric || json_get(metrics, d->metric))
		return;
	one = json_object();
	json_set_num(one, "n", get_at(json_get(d->rec, "n"), side));
	json_set_num(one, "median", get_at(json_get(d->rec, "median"), side));
	json_set(one, "values", json_dup(json_at(values, side)));
	json_set(metrics, d->metric, one);
}

/* Completes the cells, then counts their runs. */
static void
fill_gaps(struct model *m)
{
	for (size_t i = 0; i < m->ndeltas; i++)
		for (size_t side = 0; side < 2; side++)
			fill_cell(m, &m->deltas[i], side);
	for (size_t i = 0; i < m->comparisons.n; i++)
		fill_failed(m, m->comparisons.v[i]);
	for (size_t i = 0; i < m->ncells; i++) {
		const struct json *rec = m->cells[i].rec;

		if (record_is(rec, "summary"))
			m->runs += json_get_num(rec, "n", 0);
		m->failed += json_get_num(rec, "failed", 0);
	}
}

int
model_read(struct model *m, struct jsonl *in, const char *dir)
{
	struct summary *s = summary_new();
	int rc;

	*m = (struct model){.subject_set = caseset_new(),
	    .config_set = caseset_new(),
	    .cell_keys = intern_new()};
	summary_spill(s, dir, SPILL);
	rc = take_all(m, s, in);
	for (size_t i = 0; i < summary_count(s); i++) {
		struct json *rec = summary_record(s, i, false);

		if (rec)
			take_summary(m, rec);
		else
			rc = -1;
	}
	m->incomplete = rc < 0;
	take_failed_summaries(m);
	fill_gaps(m);
	order_all(m);
	summary_free(s);
	return rc;
}

void
model_free(struct model *m)
{
	struct list *lists[] = {
	    &m->comparisons, &m->shifts, &m->envs, &m->profiles, &m->others};

	for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
		for (size_t k = 0; k < lists[i]->n; k++)
			json_free(lists[i]->v[k]);
		free(lists[i]->v);
	}
	for (size_t i = 0; i < m->nsubjects; i++) {
		json_free(m->subjects[i]->json);
		free(m->subjects[i]->name);
		free(m->subjects[i]);
	}
	for (size_t i = 0; i < m->ncases; i++) {
		json_free(m->cases[i]->config);
		free(m->cases[i]->name);
		free(m->cases[i]->cells);
		free(m->cases[i]->deltas);
		free(m->cases[i]);
	}
	for (size_t i = 0; i < m->ncells; i++) {
		for (size_t k = 0; k < m->cells[i].nseries; k++)
			json_free(m->cells[i].series[k]);
		free(m->cells[i].series);
		for (size_t k = 0; k < m->cells[i].searches.n; k++)
			json_free(m->cells[i].searches.v[k]);
		free(m->cells[i].searches.v);
	}
	free(m->all_failed.v);
	free(m->subjects);
	free(m->ordered);
	free(m->cases);
	free(m->order);
	free(m->cells);
	free(m->deltas);
	free(m->changes);
	free(m->common);
	caseset_free(m->subject_set);
	caseset_free(m->config_set);
	intern_free(m->cell_keys);
}

const struct kase *
model_case(const struct model *m, const struct json *config)
{
	return m->cases[caseset_add_value(m->config_set, config)];
}

const struct subject *
model_subject(const struct model *m, const struct json *subject)
{
	return m->subjects[caseset_add_value(m->subject_set, subject)];
}

struct range
model_range(const struct json *pair)
{
	return (struct range){get_at(pair, 0), get_at(pair, 1)};
}

const struct json *
model_metric(const struct cell *c, const char *metric)
{
	return json_get(json_get(c->rec, "metrics"), metric);
}
