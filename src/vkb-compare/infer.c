#include "infer.h"
#include "busy.h"
#include "cases.h"
#include "hashset.h"
#include "history.h"
#include "intern.h"
#include "json.h"
#include "judge.h"
#include "judge/model.h"
#include "judge/odds.h"
#include "judge/sheet.h"
#include "mem.h"
#include "part.h"
#include "sessions.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/param.h>

/* Stands for the metric of rows that are judged by slow requests, which are no
 * part of the sheet of the others. */
#define RARE " rare"

/*
 * Are both sides the same measurement? All metrics must be equal: coarse values
 * of one metric may be equal by chance.
 */
static bool
is_same_data(const struct pairing *p)
{
	return part_compare_metrics(p->side[0]->parts, p->side[1]->parts) == 0;
}

/*
 * The sessions of a metric. Both sides share one if some of their runs are of
 * one block of it, whatever the case. Otherwise one side was measured after the
 * other, and each counts as a session of its own, as it does without a name.
 */
struct session_names {
	struct intern *names;
	struct hashset *blocks; /* of the baseline */
	unsigned char
	    *sides; /* bits: that have runs of their own there; SHARED */
	size_t cap;
	bool one_by_one; /* some have both sides, not shared */
};

enum { SIDES = 3, SHARED = 4 };

static struct session_names
begin_sessions(void)
{
	return (struct session_names){
	    .names = intern_new(), .blocks = hashset_new()};
}

static void
end_sessions(struct session_names *t)
{
	intern_free(t->names);
	hashset_free(t->blocks);
	free(t->sides);
}

static size_t
find_session(struct session_names *t, const struct round *r)
{
	size_t id = intern_id(t->names, r->session ? r->session : "");

	while (t->cap <= id) {
		size_t n = t->cap;

		t->sides = mem_grow(t->sides, n, &t->cap, sizeof *t->sides);
		memset(t->sides + n, 0, t->cap - n);
	}
	return id;
}

/* Notes the blocks of a sample of the baseline, or the sessions of one of the
 * contender that have blocks of it. */
static void
add_blocks(struct session_names *t, const struct sample *s, int side)
{
	for (size_t i = 0; i < s->n; i++) {
		const struct round *r = &s->rounds[i];
		unsigned long long key;
		size_t id;

		if (!r->session || isnan(r->block))
			continue;
		id = find_session(t, r);
		memcpy(&key, &r->block, sizeof key);
		key ^= (id + 1) * 0x9e3779b97f4a7c15;
		if (side == 0)
			hashset_add(t->blocks, key);
		else if (hashset_has(t->blocks, key))
			t->sides[id] |= SHARED;
	}
}

/* Returns the number of the session of a run of this side. */
static uint32_t
number_session(struct session_names *t, const struct round *r, int side)
{
	size_t id = find_session(t, r);

	if (!isnan(r->block) && t->sides[id] & SHARED)
		return (uint32_t)(3 * id);
	t->sides[id] |= (unsigned char)(1 << side);
	t->one_by_one =
	    t->one_by_one || (r->session && (t->sides[id] & SIDES) == SIDES);
	return (uint32_t)(3 * id) + 1 + (uint32_t)side;
}

/* Adds the runs of both sides; 'rare' is the row if it is judged by slow
 * requests. Returns false if one has no session. */
static bool
add_samples(struct sheet *sheet, size_t row, const struct sample *const s[2],
    struct session_names *names, const struct row *rare)
{
	bool known = true;

	for (int j = 0; j < 2; j++)
		for (size_t i = 0; i < s[j]->n; i++) {
			const struct round *r = &s[j]->rounds[i];

			known = known && r->session;
			sheet_add(sheet, row, j,
			    rare ? rare_value(rare, (size_t)j, i) : s[j]->v[i],
			    number_session(names, r, j), r->block);
		}
	return known;
}

struct verdict_facts
infer_samples(
    const struct sample s[2], bool clock, const struct model_prior *prior)
{
	struct verdict_facts f = verdict_start(s[0].v, s[0].n, s[1].v, s[1].n);
	struct sheet *sheet = sheet_new(1, clock);
	struct session_names names = begin_sessions();
	struct model_metric m;
	struct model_row *row;

	for (int j = 0; j < 2; j++)
		add_blocks(&names, &s[j], j);
	add_samples(sheet, 0, (const struct sample *const[2]){&s[0], &s[1]},
	    &names, NULL);
	row = sheet_rows(sheet);
	model_judge(row, 1, prior, &m);
	verdict_take(&f, row);
	end_sessions(&names);
	sheet_free(sheet);
	return f;
}

/* The rows of one metric that have noise. */
struct group {
	struct row **rows;
	size_t n;
	struct metric_facts *of;
};

static enum sessions_host
find_host(const struct comparison *c)
{
	enum sessions_host host = SESSIONS_BARE;

	for (size_t i = 0; i < c->npairs; i++)
		for (size_t j = 0; j < 2 && c->pairs[i].rows; j++) {
			const struct kase *k = c->pairs[i].side[j];

			for (size_t n = 0; n < k->nparts; n++)
				host = sessions_see(
				    host, json_get(k->parts[n].rest, "env"));
		}
	return host;
}

/* A row whose policy differs from that of others has the most that one of them
 * says. */
void
infer_prior(struct metric_facts *of, struct row *const *rows, size_t n,
    enum sessions_host host, const struct rules *r)
{
	const struct row *first = rows[0];
	struct model_prior *p = &of->prior;
	struct moderate known = {NAN, 0};

	if (r->history)
		known = history_sessions(
		    r->history, first->name, first->pair->side[0]);
	of->from = "default";
	*p = sessions_assume(first->metric, host, &of->assumed);
	if (known.df > 0) {
		of->from = "history";
		p->session_sd = sqrt(known.var);
		p->df = known.df;
	}
	for (size_t i = 0; i < n; i++) {
		const struct row *row = rows[i];

		if (!(row->session_df > 0) ||
		    (strcmp(of->from, "policy") == 0 &&
			row->session_sd <= p->session_sd))
			continue;
		of->from = "policy";
		p->session_sd = row->session_sd;
		p->df = row->session_df;
	}
	/* What a history or a policy says is of values. */
	if (first->rare && strcmp(of->from, "default") != 0)
		p->session_sd *= RARE_SIZES;
	p->case_sd = sessions_case_sd(first->metric, p->session_sd);
	p->sizes = first->rare ? RARE_SIZES : 1;
}

/* Sets what other programs may have done: to all rows what they did to each of
 * them, to a row what is left. */
static void
set_busy(const struct group *g, struct model_row *models)
{
	double least = INFINITY;

	for (size_t i = 0; i < g->n; i++)
		least = fmin(least, busy_noise(g->rows[i]));
	g->of->prior.others = least;
	for (size_t i = 0; i < g->n; i++) {
		if (g->rows[i]->rare)
			models[i].least_var = g->rows[i]->rare->least_var;
		models[i].apart =
		    busy_noise(g->rows[i]) - least + busy_own_noise(g->rows[i]);
	}
}

struct verdict_facts
infer_rest(const struct row *row, bool whole)
{
	struct verdict_facts f = row->facts;
	struct model_row m = *row->model;

	m.change = m.rest;
	m.error = m.rest_error;
	(whole ? verdict_take : verdict_take_change)(&f, &m);
	return f;
}

/* What a session does is a factor: 0 stays 0. */
static bool
is_zero(const struct verdict_facts *f)
{
	return f->median[0] == 0 && f->median[1] == 0 && f->change == 0;
}

static void
set_row(struct row *row, struct model_row *m, const struct metric_facts *of)
{
	row->of = of;
	verdict_take(&row->facts, m);
	row->busy = !m->pairs && busy_noise(row) > 0;
	if (m->pairs) {
		row->dropped = m->n[0] + m->n[1] - 2 * m->pairs;
		row->facts.m = row->facts.n = m->pairs;
	}
	row->model = m;
	if (row->rare)
		row->rare->share[1] = rare_change(row, row->facts.ratio);
	/* Equal values of p99.9 may have other counts of slow requests. */
	if ((is_same_data(row->pair) &&
		!(row->rare && row->facts.change != 0)) ||
	    is_zero(&row->facts)) {
		verdict_make_identical(&row->facts);
		m->sessions_of[0] = m->sessions_of[1] = 0;
		return;
	}
	row->has_rest = of->model.separate && m->logs && m->shared > 0;
	if (row->has_rest)
		row->facts.rest = m->rest;
}

/* Notes how many sessions there are, and what says how they differ. */
static void
note_sessions(struct comparison *c, const struct group *g)
{
	const struct metric_facts *of = g->of;

	for (size_t i = 0; i < g->n; i++) {
		const struct row *row = g->rows[i];

		for (size_t j = 0; j < 2; j++)
			if (row->model->sessions_of[j] > c->sessions[j])
				c->sessions[j] = row->model->sessions_of[j];
		if (!row->model->sessions_of[0] || of->model.known ||
		    (c->assumed &&
			!(row->primary &&
			    of->prior.session_sd >
				c->assumed->prior.session_sd)))
			continue;
		c->assumed = of;
	}
}

/* Makes the pair of the rows that stand for all cases. */
static void
make_everything(struct comparison *c)
{
	struct kase *k = mem_new(sizeof *k);
	struct json *whole = json_object();

	json_set_str(c->shared, "command", INFER_ALL);
	k->config = c->shared;
	k->nparts = 1;
	k->parts = mem_new(sizeof *k->parts);
	json_set_num(whole, "n", 1);
	k->parts[0].rest = whole;
	c->everything = (struct pairing){.side = {k, k}, .rows = 1};
	for (size_t j = 0; j < 2; j++)
		c->everything.name[j] = mem_str(INFER_ALL);
}

/* Returns the judged row with the widest margin, or NULL. With a narrower one
 * all cases together could be a regression although each is within its own
 * margin. */
static const struct row *
find_like(struct row *const *rows, size_t n)
{
	const struct row *like = NULL;

	for (size_t i = 0; i < n; i++)
		if (rows[i]->gate && (!like || rows[i]->margin > like->margin))
			like = rows[i];
	return like;
}

/*
 * Adds a row behind the others, which may move, for what the cases of the rows
 * of a metric have in common, if one of them is judged and one has enough runs.
 * It has the margin of the judged one with the widest, is primary if one of
 * them is, and is waived if all judged ones have the same waiver.
 */
static void
add_common(struct comparison *c, const struct group *g)
{
	const struct model_metric *m = &g->of->model;
	const struct row *like = find_like(g->rows, g->n);
	struct row row = {.pair = &c->everything,
	    .gate = true,
	    .common = true,
	    .of = g->of,
	    .visible = NAN,
	    .minutes = NAN,
	    .used = {&sample_none, &sample_none},
	    .model = &g->of->common};
	size_t runs = 0;

	if (!like)
		return;
	g->of->common = (struct model_row){.logs = true,
	    .n = {g->n, g->n},
	    .change = m->moved,
	    .own = m->moved_error,
	    .error = m->moved_error,
	    .least = m->common,
	    .shared = 1,
	    .down = m->down,
	    .up = m->up};
	row.waiver = like->waiver;
	for (size_t i = 0; i < g->n; i++) {
		const struct row *of = g->rows[i];

		runs = MAX(runs, MIN(of->facts.m, of->facts.n));
		row.primary = row.primary || of->primary;
		if (of->gate && of->waiver.reason != row.waiver.reason)
			row.waiver = (struct policy_waiver){0};
	}
	if (runs < VERDICT_RUNS)
		return;
	row.name = like->name;
	row.metric = like->metric;
	row.margin = like->margin;
	row.margin_sign = like->margin_sign;
	row.margin_from = like->margin_from;
	row.facts = verdict_start(NULL, 0, NULL, 0);
	row.facts.m = row.facts.n = g->n;
	row.facts.median[0] = 1;
	row.facts.median[1] = exp(m->moved);
	verdict_take(&row.facts, row.model);
	if (!c->everything.side[0])
		make_everything(c);
	c->rows = mem_grow(c->rows, c->nrows, &c->cap, sizeof *c->rows);
	c->rows[c->nrows++] = row;
}

static void
infer_group(struct comparison *c, struct group *g, const struct rules *r)
{
	struct metric_facts *of = g->of = &c->metrics[c->nmetrics++];
	struct sheet *sheet =
	    sheet_new(g->n, metric_has_clock(g->rows[0]->metric));
	struct session_names names = begin_sessions();
	struct model_row *models;
	bool rare = g->rows[0]->rare;
	size_t apart = 0;

	of->name = g->rows[0]->name;
	for (size_t i = 0; i < 2 * g->n; i++)
		add_blocks(
		    &names, g->rows[i % g->n]->used[i / g->n], (int)(i / g->n));
	for (size_t i = 0; i < g->n; i++)
		if (!add_samples(sheet, i, g->rows[i]->used, &names,
			rare ? g->rows[i] : NULL))
			c->unnamed_sessions = true;
	if (rare)
		sheet_take_logs(sheet);
	models = sheet_rows(sheet);
	of->step = sheet_step(sheet);
	of->cases = g->n;
	infer_prior(of, g->rows, g->n, c->host, r);
	set_busy(g, models);
	of->one_by_one = names.one_by_one;
	c->one_by_one = c->one_by_one || of->one_by_one;
	model_judge(models, g->n, &of->prior, &of->model);
	for (size_t i = 0; i < g->n; i++) {
		set_row(g->rows[i], &models[i], of);
		apart += g->rows[i]->model->sessions_of[0] > 0;
	}
	of->rows = sheet_take_rows(sheet);
	note_sessions(c, g);
	if (g->n >= INFER_COMMON && apart == g->n && !rare)
		add_common(c, g);
	end_sessions(&names);
	sheet_free(sheet);
}

void
infer_rows(struct comparison *c, const struct rules *r)
{
	size_t n = c->nrows; /* those of all cases are added behind them */
	struct intern *names = intern_new();
	size_t *ids = mem_array(n + 1, sizeof *ids), metrics;
	struct group g = {.rows = mem_array(n + 1, sizeof(struct row *))};

	for (size_t i = 0; i < n; i++)
		ids[i] = c->rows[i].exact ? SIZE_MAX
		    : c->rows[i].rare     ? intern_id(names, RARE)
					  : intern_id(names, c->rows[i].name);
	metrics = intern_count(names);
	c->host = find_host(c);
	c->metrics = mem_array(metrics + 1, sizeof *c->metrics);
	for (size_t id = 0; id < metrics; id++) {
		g.n = 0;
		for (size_t i = 0; i < n; i++)
			if (ids[i] == id)
				g.rows[g.n++] = &c->rows[i];
		infer_group(c, &g, r);
	}
	free(g.rows);
	free(ids);
	intern_free(names);
}

struct plan
infer_plan(const struct row *row)
{
	const struct metric_facts *of = row->of;
	struct plan p = plan_describe(row->model, &of->model);
	double by = row->common ? 1 : of->model.separate ? .265 : 1.7;
	bool known = of->model.known;

	p.margin = row->margin;
	p.p = of->needs_p;
	if (row->common)
		p.unchanged = 1 - ODDS_ALL_CHANGED;
	/* How much sessions differ is assumed, and only roughly known: one case
	 * needs more than that, and where others tell the machine, less. The
	 * factors were fitted to the cells "visible" of tests/bench/verdicts.
	 */
	if (row->has_rest && of->cases >= INFER_COMMON) {
		p.error = row->model->rest_error;
	} else if (row->model->shared > 0 && (row->has_rest || !known)) {
		p.error = (struct moderate){row->model->own.var +
			row->model->sessions + by * of->model.sessions.var,
		    known ? row->model->own.df : INFINITY};
		p.known = !known;
	}
	return p;
}

void
infer_free(struct comparison *c)
{
	struct kase *k = (struct kase *)(size_t)c->everything.side[0];

	if (!k)
		return;
	json_free((struct json *)(size_t)k->parts[0].rest);
	free(k->parts);
	free(k);
	for (size_t j = 0; j < 2; j++)
		free(c->everything.name[j]);
}
