#include "model.h"
#include "caseset.h"
#include "err.h"
#include "gaps.h"
#include "json.h"
#include "jsonl.h"
#include "mem.h"
#include "metric.h"
#include "intern.h"
#include "order.h"
#include "record.h"
#include "summary.h"
#include "judge/verdict.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define SPILL (64 * 1048576) /* bytes of values kept in memory */

static const enum verdict verdicts[MODEL_VERDICTS] = {VERDICT_REGRESSION,
    VERDICT_LIKELY_REGRESSION, VERDICT_IMPROVEMENT, VERDICT_LIKELY_IMPROVEMENT,
    VERDICT_DIFFERENT, VERDICT_LIKELY_DIFFERENT, VERDICT_INCONCLUSIVE,
    VERDICT_INSUFFICIENT, VERDICT_EQUIVALENT};

const char *
model_verdict_name(enum model_verdict v)
{
	return verdict_name(verdicts[v]);
}

enum verdict
model_verdict(const struct delta *d)
{
	return verdicts[d->verdict];
}

const char *
model_verdict_word(enum model_verdict v)
{
	return verdict_word(verdicts[v]);
}

static enum model_verdict
parse_verdict(const char *s)
{
	for (size_t i = 0; s && i < MODEL_VERDICTS; i++)
		if (strcmp(verdict_name(verdicts[i]), s) == 0)
			return (enum model_verdict)i;
	return MODEL_INCONCLUSIVE;
}

/* --- interned subjects, cases and cells */

struct subject *
model_add_subject(struct model *m, const struct json *json)
{
	size_t id = caseset_add_value(m->subject_set, json);
	struct subject *s;

	if (id < m->nsubjects)
		return m->subjects[id];
	m->subjects =
	    mem_grow(m->subjects, m->nsubjects, &m->scap, sizeof *m->subjects);
	s = m->subjects[m->nsubjects++] = mem_new(sizeof *s);
	s->json = json_dup(json);
	s->time = record_subject_time(s->json);
	return s;
}

/* Adds the contender of a comparison of equal subjects: a subject of its own.
 */
static struct subject *
add_twin(struct model *m, const struct subject *base)
{
	struct json *json = json_dup(base->json);
	struct subject *s;

	json_set_str(json, "side", "contender");
	s = model_add_subject(m, json);
	s->twin = base;
	json_free(json);
	return s;
}

/* Adds the pair of subjects of a delta or comparison record. */
static struct pair *
add_pair(struct model *m, const struct json *rec)
{
	struct subject *base = model_add_subject(m, json_get(rec, "baseline"));
	struct subject *other =
	    model_add_subject(m, json_get(rec, "contender"));

	other = other == base ? add_twin(m, base) : other;
	for (size_t i = m->npairs; i-- > 0;)
		if (m->pairs[i].base == base && m->pairs[i].contender == other)
			return &m->pairs[i];
	base->baseline = true;
	other->contender = true;
	m->pairs = mem_grow(m->pairs, m->npairs, &m->pcap, sizeof *m->pairs);
	m->pairs[m->npairs] = (struct pair){base, other, NULL};
	return &m->pairs[m->npairs++];
}

struct kase *
model_add_case(struct model *m, const struct json *config)
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

struct cell *
model_add_cell(struct model *m, struct kase *kase, struct subject *subject)
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
	return model_add_cell(m, model_add_case(m, json_get(rec, "config")),
	    model_add_subject(m, json_get(rec, "subject")));
}

void
model_keep(struct list *l, struct json *rec)
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
		model_keep(&m->all_failed, rec);
		return;
	}
	c = add_cell_of(m, rec);
	model_keep(&m->others, rec);
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
	const struct pair *pair = add_pair(m, rec);
	const char *class = json_get_str(rec, "class");
	struct delta d = {
	    .rec = rec,
	    .kase = model_add_case(m, json_get(rec, "config")),
	    .base = pair->base,
	    .contender = pair->contender,
	    .metric = json_get_str(rec, "metric"),
	    .verdict = parse_verdict(json_get_str(rec, "verdict")),
	    .gate = class && strcmp(class, "gate") == 0,
	    .waived = json_get(rec, "waiver") != NULL,
	    .ratio = json_get_num(rec, "ratio", NAN),
	    .lo = ci.lo,
	    .hi = ci.hi,
	};

	model_keep(&m->others, rec);
	m->deltas = mem_grow(m->deltas, m->ndeltas, &m->dcap, sizeof d);
	m->deltas[m->ndeltas++] = d;
}

static void
take_change(struct model *m, struct json *rec)
{
	struct change c = {
	    .rec = rec,
	    .kase = model_add_case(m, json_get(rec, "config")),
	    .subject = model_add_subject(m, json_get(rec, "subject")),
	    .metric = json_get_str(rec, "metric"),
	    .kind = json_get_str(rec, "kind"),
	    .ratio = json_get_num(rec, "ratio", NAN),
	};

	c.way = json_str(json_path(rec, "trend.direction"));
	c.way = c.way ? c.way : c.kind;
	model_keep(&m->others, rec);
	m->changes = mem_grow(m->changes, m->nchanges, &m->hcap, sizeof c);
	m->changes[m->nchanges++] = c;
	c.kase->changes++;
}

static void
take_profile(struct model *m, struct json *rec)
{
	if (json_get(rec, "config"))
		model_add_case(m, json_get(rec, "config"));
	if (json_get(rec, "subject"))
		model_add_subject(m, json_get(rec, "subject"));
	model_keep(&m->profiles, rec);
}

static void
take_comparison(struct model *m, struct json *rec)
{
	struct pair *p = add_pair(m, rec);

	p->rec = p->rec ? p->rec : rec;
	model_keep(&m->others, rec);
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
		model_keep(&c->searches, json_detach(run, "capacity"));
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
			model_add_case(m, json_get(rec, "config"));
			model_keep(&m->shifts, rec);
		} else if (record_is(rec, "env"))
			model_keep(&m->envs, rec);
		else if (record_is(rec, "profile"))
			take_profile(m, rec);
		else {
			m->records--; /* not a type that is shown */
			json_free(rec);
		}
	}
	return rc;
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
	gaps_fill(m);
	order_all(m);
	summary_free(s);
	return rc;
}

void
model_free(struct model *m)
{
	struct list *lists[] = {&m->shifts, &m->envs, &m->profiles, &m->others};

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
	free(m->pairs);
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

struct changetext
model_changetext(const struct delta *d)
{
	const struct json *median = json_get(d->rec, "median");
	const struct metric metric = metric_guess(d->metric);
	const char *method = json_get_str(d->rec, "method");
	/* Counted runs that agree have an interval, without a test. */
	bool counted = metric.exact_margin > 0 && method &&
	    strcmp(method, "assumed") == 0 && json_get(d->rec, "ci95");

	return (struct changetext){d->metric,
	    {json_num(json_at(median, 0), NAN),
		json_num(json_at(median, 1), NAN)},
	    d->ratio, (metric.exact || counted) && !(d->lo < d->hi), d->lo,
	    d->hi};
}
