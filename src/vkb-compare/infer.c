#include "infer.h"
#include "busy.h"
#include "cases.h"
#include "common.h"
#include "history.h"
#include "intern.h"
#include "json.h"
#include "judge.h"
#include "judge/model.h"
#include "judge/sheet.h"
#include "mem.h"
#include "part.h"
#include "sessions.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/param.h>

static bool
is_virtual(const struct comparison *c)
{
	bool any = false;

	for (size_t i = 0; i < c->npairs && !any; i++)
		for (size_t j = 0; j < 2 && c->pairs[i].side[j]; j++) {
			struct json *env = json_object(),
				    *varied = json_object();

			cases_env(c->pairs[i].side[j], env, varied);
			any = any || json_get_bool(env, "virtual", false);
			json_free(env);
			json_free(varied);
		}
	return any;
}

/*
 * Are both sides the same measurement? All metrics must be equal: coarse values
 * of one metric may be equal by chance.
 */
static bool
is_same_data(const struct pairing *p)
{
	const struct kase *a = p->side[0], *b = p->side[1];

	return a->nparts == 1 && b->nparts == 1 &&
	    part_compare_metrics(&a->parts[0], &b->parts[0]) == 0;
}

/*
 * The sessions of a metric. Runs of both sides were interleaved in a session if
 * some of its runs have a block. Otherwise one side was measured after the
 * other, and each counts as a session of its own, as it does without a name.
 */
struct session_names {
	struct intern *names; /* the interleaved ones first */
	size_t interleaved;
	unsigned char
	    *sides; /* of each of the others, bits: those that it has */
	size_t cap;
};

static struct session_names
list_sessions(const struct sample **samples, size_t n)
{
	struct session_names t = {.names = intern_new()};

	for (size_t i = 0; i < n; i++)
		for (int j = 0; j < 2; j++) {
			const struct sample *s = &samples[i][j];

			for (size_t k = 0; s->rounds && k < s->n; k++)
				if (s->rounds[k].session &&
				    !isnan(s->rounds[k].block))
					intern_id(
					    t.names, s->rounds[k].session);
		}
	t.interleaved = intern_count(t.names);
	return t;
}

/* Returns the number of the session of a run of this side. */
static uint32_t
number_session(struct session_names *t, const char *name, int side)
{
	size_t id = intern_id(t->names, name ? name : "");

	while (t->cap < intern_count(t->names)) {
		size_t n = t->cap;

		t->sides = mem_grow(t->sides, n, &t->cap, sizeof *t->sides);
		memset(t->sides + n, 0, t->cap - n);
	}
	if (id < t->interleaved)
		return (uint32_t)(2 * id);
	if (name)
		t->sides[id] |= (unsigned char)(1 << side);
	return (uint32_t)(2 * id) + (uint32_t)side;
}

/* Returns whether both sides have a named session, one after the other. */
static bool
free_sessions(struct session_names *t)
{
	bool both = false;

	for (size_t i = t->interleaved; i < intern_count(t->names); i++)
		both = both || t->sides[i] == 3;
	intern_free(t->names);
	free(t->sides);
	return both;
}

/* Adds the runs of both sides. Returns false if one has no session. */
static bool
add_samples(struct sheet *sheet, size_t row, const struct sample s[2],
    struct session_names *names)
{
	bool known = true;

	for (int j = 0; j < 2; j++)
		for (size_t i = 0; i < s[j].n; i++) {
			const struct round none = {NULL, NAN};
			const struct round *r =
			    s[j].rounds ? &s[j].rounds[i] : &none;

			known = known && r->session;
			sheet_add(sheet, row, j, s[j].v[i],
			    number_session(names, r->session, j), r->block);
		}
	return known;
}

struct verdict_facts
infer_samples(const struct sample s[2])
{
	struct model_prior prior = sessions_assume(NULL, false);
	struct verdict_facts f = verdict_start(s[0].v, s[0].n, s[1].v, s[1].n);
	struct sheet *sheet = sheet_new(1, true);
	struct session_names names = list_sessions(&s, 1);
	struct model_metric m;
	struct model_row *row;

	add_samples(sheet, 0, s, &names);
	row = sheet_rows(sheet);
	model_judge(row, 1, &prior, &m);
	verdict_take(&f, row, sheet_is_log(sheet, 0));
	free_sessions(&names);
	sheet_free(sheet);
	return f;
}

/* The rows of one metric that have noise. */
struct group {
	struct row **rows;
	size_t n;
	struct model_prior prior;
	const char *from; /* what says how much sessions differ */
};

/*
 * Sets how much sessions differ in these rows: by the policy, by the history,
 * or as assumed. A row whose policy differs from that of others has the most
 * that one of them says.
 */
static void
set_prior(struct group *g, const struct comparison *c, const struct rules *r)
{
	const struct row *first = g->rows[0];
	struct moderate known = {NAN, 0};

	if (r->history)
		known = history_sessions(
		    r->history, first->name, first->pair->side[0]);
	g->from = "default";
	g->prior = sessions_assume(&first->metric, is_virtual(c));
	if (known.df > 0) {
		g->from = "history";
		g->prior.session_sd = sqrt(known.var);
		g->prior.df = known.df;
	}
	for (size_t i = 0; i < g->n; i++) {
		const struct row *row = g->rows[i];

		if (!(row->session_df > 0) ||
		    (strcmp(g->from, "policy") == 0 &&
			row->session_sd <= g->prior.session_sd))
			continue;
		g->from = "policy";
		g->prior.session_sd = row->session_sd;
		g->prior.df = row->session_df;
	}
	g->prior.case_sd = fmin(SESSIONS_CASE_SD, g->prior.session_sd);
}

/* Sets what other programs may have done: to all rows what they did to each of
 * them, to a row what is left. */
static void
set_busy(struct group *g, struct model_row *models)
{
	double least = INFINITY;

	for (size_t i = 0; i < g->n; i++)
		least = fmin(least, busy_noise(g->rows[i]));
	g->prior.others = least;
	for (size_t i = 0; i < g->n; i++)
		models[i].apart =
		    busy_noise(g->rows[i]) - least + busy_own_noise(g->rows[i]);
}

/* Sets what a row is relative to what all cases have in common. */
static void
set_rest(struct row *row, const struct model_row *m)
{
	struct model_row rest = *m;

	rest.change = m->rest;
	rest.error = m->rest_error;
	row->rest = row->facts;
	verdict_take(&row->rest, &rest, true);
	row->has_rest = true;
	row->facts.rest = m->rest;
}

/* What a session does is a factor: 0 stays 0. */
static bool
is_zero(const struct verdict_facts *f)
{
	return f->median[0] == 0 && f->median[1] == 0 && f->change == 0;
}

static void
set_row(struct row *row, const struct model_row *m, bool logs, bool separate)
{
	verdict_take(&row->facts, m, logs);
	row->busy = !m->pairs && busy_noise(row) > 0;
	if (m->pairs) {
		row->dropped = m->n[0] + m->n[1] - 2 * m->pairs;
		row->facts.m = row->facts.n = m->pairs;
	}
	row->model = *m;
	row->model.runs[0] = row->model.runs[1] = NULL;
	if (is_same_data(row->pair) || is_zero(&row->facts)) {
		verdict_make_identical(&row->facts);
		return;
	}
	memcpy(row->sessions, m->sessions_of, sizeof row->sessions);
	if (separate && logs && m->shared > 0)
		set_rest(row, m);
}

/*
 * Returns the row whose margin and waiver the row of all cases gets: the judged
 * one with the widest margin, or NULL. With a narrower margin all cases
 * together could be a regression although each is within its own margin.
 */
static const struct row *
find_like(const struct group *g)
{
	const struct row *like = NULL;

	for (size_t i = 0; i < g->n; i++)
		if (g->rows[i]->gate &&
		    (!like || g->rows[i]->margin > like->margin))
			like = g->rows[i];
	return like;
}

/* Adds the row of what all cases have in common, if one of them has enough
 * runs. It is waived if all judged cases have the same waiver. */
static void
add_common(
    struct comparison *c, const struct group *g, const struct model_metric *m)
{
	const struct row *model = find_like(g);
	struct row like;
	size_t runs = 0;

	if (!model)
		return;
	like = *model;
	like.primary = false;
	for (size_t i = 0; i < g->n; i++) {
		const struct verdict_facts *f = &g->rows[i]->facts;

		runs = MAX(runs, MIN(f->m, f->n));
		like.primary = like.primary || g->rows[i]->primary;
		if (g->rows[i]->gate &&
		    g->rows[i]->waiver.reason != like.waiver.reason)
			like.waiver = (struct policy_waiver){0};
	}
	if (runs >= VERDICT_RUNS)
		common_add(c, &like, m, g->n);
}

/* Notes how many sessions there are, and what says how they differ. */
static void
note_sessions(
    struct comparison *c, const struct group *g, const struct model_metric *m)
{
	for (size_t i = 0; i < g->n; i++) {
		const struct row *row = g->rows[i];

		for (size_t j = 0; j < 2; j++)
			if (row->sessions[j] > c->sessions[j])
				c->sessions[j] = row->sessions[j];
		if (!row->sessions[0] || m->known ||
		    (c->session_from &&
			!(row->primary && g->prior.session_sd > c->session_sd)))
			continue;
		c->session_from = g->from;
		c->session_sd = g->prior.session_sd;
	}
}

static void
infer_group(struct comparison *c, struct group *g, const struct rules *r)
{
	struct metric_facts *of = &c->metrics[c->nmetrics++];
	struct sheet *sheet =
	    sheet_new(g->n, strcmp(g->rows[0]->metric.unit, "ms") == 0);
	const struct sample **used = mem_array(g->n, sizeof *used);
	struct session_names names;
	struct model_row *models;
	bool one_by_one;
	size_t apart = 0;

	of->name = mem_str(g->rows[0]->name);
	for (size_t i = 0; i < g->n; i++)
		used[i] = g->rows[i]->used;
	names = list_sessions(used, g->n);
	for (size_t i = 0; i < g->n; i++)
		if (!add_samples(sheet, i, used[i], &names))
			c->unnamed_sessions = true;
	models = sheet_rows(sheet);
	of->step = sheet_step(sheet);
	of->cases = g->n;
	set_prior(g, c, r);
	of->stated = g->prior.session_sd;
	of->from = g->from;
	set_busy(g, models);
	one_by_one = free_sessions(&names);
	c->one_by_one = c->one_by_one || one_by_one;
	model_judge(models, g->n, &g->prior, &of->model);
	for (size_t i = 0; i < g->n; i++) {
		set_row(g->rows[i], &models[i], sheet_is_log(sheet, i),
		    of->model.separate);
		g->rows[i]->one_by_one = one_by_one;
		apart += g->rows[i]->sessions[0] > 0;
	}
	note_sessions(c, g, &of->model);
	if (g->n >= COMMON_CASES && apart == g->n)
		add_common(c, g, &of->model);
	free(used);
	sheet_free(sheet);
}

void
infer_rows(struct comparison *c, const struct rules *r)
{
	struct group g = {0};
	bool *done = mem_array(c->nrows + 1, sizeof *done);

	g.rows = mem_array(c->nrows + 1, sizeof(struct row *));
	c->metrics = mem_array(c->nrows + 1, sizeof *c->metrics);
	for (size_t i = 0; i < c->nrows; i++) {
		g.n = 0;
		for (size_t k = i; k < c->nrows && !done[i]; k++)
			if (!c->rows[k].exact && !done[k] &&
			    strcmp(c->rows[k].name, c->rows[i].name) == 0) {
				g.rows[g.n++] = &c->rows[k];
				done[k] = k > i;
			}
		if (g.n)
			infer_group(c, &g, r);
	}
	common_append(c);
	free(g.rows);
	free(done);
}
