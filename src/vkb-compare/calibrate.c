#include "calibrate.h"
#include "bimodal.h"
#include "casename.h"
#include "caseset.h"
#include "err.h"
#include "hashset.h"
#include "history.h"
#include "infer.h"
#include "intern.h"
#include "json.h"
#include "jsonl.h"
#include "judge.h"
#include "judge/claim.h"
#include "mem.h"
#include "part.h"
#include "record.h"
#include "stats.h"
#include "str.h"
#include "table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum arrangement { TOGETHER, APART, WAYS }; /* are the sides interleaved? */

static const char *const way_names[WAYS] = {"interleaved", "apart"};

struct alarm_counts {
	size_t windows, alarms;
	double *sizes; /* |ln ratio| of those that would be claimed */
	size_t n;
	double margin; /* keeps alarms below ALLOWED; NAN: unknown */
};

#define ALLOWED .05

struct entry {
	struct row row;
	struct metric metric; /* of the row */
	struct pairing pair;
	struct kase kase;
	struct part part; /* it has nothing */
	size_t n;
	double cv, robust_cv, lag1;
	bool bimodal, interleaved;
	struct alarm_counts of[WAYS];
};

/* How much sessions differ in a metric that is judged and has noise. */
struct session_spread {
	char *metric;
	struct history_spread of;
};

struct run {
	struct json *metrics;
	size_t kase, session, at; /* at: index in the input */
	double order, block;
};

struct calibration {
	struct run *v; /* in the order of the cases, then of time */
	size_t n, cap;
	struct caseset *configs;
	struct intern *sessions;
	/* When the first run of each session began; NULL: one does not say
	 * it. Then sessions are in the order of the input. */
	char **starts;
	size_t nstarts, startcap;
	bool timed;
	char *reference; /* hash of that of a run, or NULL */
	bool mixed;      /* not all have the same */
	enum sessions_host host;
	struct session_spread *spreads;
	size_t nspreads;
	struct entry **entries;
	size_t nentries, entrycap;
	size_t runs;
};

/* Adds a run record that succeeded; takes its metrics. */
static void
add_run(struct calibration *c, struct json *rec)
{
	const char *reference =
	    json_str(json_path(rec, "env.reference_sha256"));
	const struct json *run = json_get(rec, "run");
	const char *name = json_get_str(run, "session");
	const char *started = json_get_str(run, "started");
	size_t session = intern_id(c->sessions, name ? name : "");

	c->v = mem_grow(c->v, c->n, &c->cap, sizeof *c->v);
	c->v[c->n] = (struct run){.metrics = json_detach(rec, "metrics"),
	    .kase = caseset_add_value(c->configs, json_get(rec, "config")),
	    .session = session,
	    .at = c->n,
	    .order = json_get_num(run, "order", -1),
	    .block = json_get_num(run, "block", -1)};
	c->n++;
	c->host = sessions_see(c->host, json_get(rec, "env"));
	c->starts =
	    mem_grow(c->starts, c->nstarts, &c->startcap, sizeof(char *));
	if (session == c->nstarts) {
		c->starts[c->nstarts++] = mem_str(started);
	} else if (c->starts[session] &&
	    (!started || strcmp(started, c->starts[session]) < 0)) {
		free(c->starts[session]);
		c->starts[session] = mem_str(started);
	}
	c->reference = c->reference ? c->reference : mem_str(reference);
	c->mixed |= reference && strcmp(reference, c->reference) != 0;
}

static int
compare_by_time(const void *a, const void *b, void *arg)
{
	const struct run *x = a, *y = b;
	const struct calibration *of = arg;
	int c = (x->kase > y->kase) - (x->kase < y->kase);

	if (!c && of->timed)
		c = strcmp(of->starts[x->session], of->starts[y->session]);
	c = c ? c : (x->session > y->session) - (x->session < y->session);
	c = c ? c : (x->order > y->order) - (x->order < y->order);
	c = c ? c : (x->block > y->block) - (x->block < y->block);
	return c ? c : (x->at > y->at) - (x->at < y->at);
}

/* Reads the runs; failed ones are left out. Returns -1 on error, after
 * reporting it. */
static int
read_runs(struct calibration *c, const char *const *files, size_t n)
{
	struct jsonl *in = jsonl_open(files, n);
	struct hashset *seen = hashset_new();
	struct json *rec;
	int got, rc = 0;

	while ((got = record_next(in, &rec)) != 0) {
		if (got < 0) {
			rc = -1;
			continue;
		}
		if (record_is(rec, "summary"))
			rc = err_fail("%s: a summary does not have the order "
				      "of its runs: give run records",
			    jsonl_where(in));
		if (record_is(rec, "run") && json_get(rec, "metrics") &&
		    strcmp(json_get_str(rec, "status"), "ok") == 0 &&
		    !(json_path(rec, "run.session") &&
			hashset_add(seen, json_hash(rec))))
			add_run(c, rec);
		json_free(rec);
	}
	hashset_free(seen);
	jsonl_close(in);
	c->timed = true;
	for (size_t i = 0; i < c->nstarts; i++)
		c->timed = c->timed && c->starts[i];
	if (c->n)
		qsort_r(c->v, c->n, sizeof *c->v, compare_by_time, c);
	if (rc == 0 && !c->n)
		rc = err_fail("the input has no run records");
	return rc;
}

/* Do some of these runs of a case share a round? */
static bool
are_interleaved(const struct run *v, size_t n)
{
	for (size_t i = 1; i < n; i++)
		if (v[i].session == v[i - 1].session && v[i].block >= 0 &&
		    v[i].block == v[i - 1].block)
			return true;
	return false;
}

/* Judges as a report of this row alone would. */
static void
judge_window(struct alarm_counts *t, const struct row *row,
    const struct model_prior *prior, const struct sample s[2])
{
	struct verdict_facts f = row->exact
	    ? verdict_measure_exact(s[0].v, s[0].n, s[1].v, s[1].n)
	    : infer_samples(s, metric_has_clock(row->metric), prior);
	/* The margin that is sought is left out at first. */
	struct claim any = verdict_make_claim(&f, 0);
	struct claim beyond = verdict_make_claim(&f, row->margin);
	enum verdict v;

	claim_choose(&any, 1, false);
	claim_choose(&beyond, 1, false);
	v = verdict_decide(&f, row->metric->better, row->margin, beyond.word);
	t->windows++;
	t->alarms += v == VERDICT_REGRESSION || v == VERDICT_IMPROVEMENT ||
	    v == VERDICT_DIFFERENT;
	if (row->exact || any.word == CLAIM_CHANGE)
		t->sizes[t->n++] = f.ratio > 0   ? fabs(log(f.ratio))
		    : f.median[0] == f.median[1] ? 0
						 : INFINITY;
}

/* Finds the least margin with alarms in less than ALLOWED of the windows. */
static void
find_margin(struct alarm_counts *t)
{
	double left = ceil(ALLOWED * (double)t->windows) - 1;
	size_t pass = left > 0 ? (size_t)left : 0;

	stats_sort(t->sizes, t->n);
	t->margin = !t->windows ? NAN
	    : t->n > pass       ? -expm1(-t->sizes[t->n - 1 - pass])
				: 0;
	free(t->sizes);
	t->sizes = NULL;
}

/*
 * Compares, in each stretch of 2 * runs consecutive values, the first half with
 * the second (APART), and the even with the odd values (TOGETHER).
 */
static void
judge_windows(struct entry *e, const struct model_prior *prior, double *v,
    size_t n, size_t runs)
{
	double *x = mem_array(2 * runs, sizeof *x), *y = x + runs;
	struct round *rounds = mem_array(2 * runs, sizeof *rounds);
	size_t most = n < 2 * runs ? 0 : n - 2 * runs + 1;

	for (size_t w = 0; w < WAYS; w++)
		e->of[w].sizes = mem_array(most + 1, sizeof *x);
	for (size_t i = 0; i < 2 * runs; i++)
		rounds[i] = (struct round){.session = "", .block = (double)i};
	for (size_t s = 0; s < most; s++) {
		for (size_t i = 0; i < runs; i++) {
			x[i] = v[s + 2 * i];
			y[i] = v[s + 2 * i + 1];
		}
		judge_window(&e->of[TOGETHER], &e->row, prior,
		    (struct sample[]){{x, rounds, runs}, {y, rounds, runs}});
		judge_window(&e->of[APART], &e->row, prior,
		    (struct sample[]){{v + s, rounds, runs},
			{v + s + runs, rounds + runs, runs}});
	}
	for (size_t w = 0; w < WAYS; w++)
		find_margin(&e->of[w]);
	free(rounds);
	free(x);
}

static void
measure_noise(struct entry *e, double *v)
{
	double median;

	e->lag1 = stats_lag1(v, e->n);
	stats_sort(v, e->n);
	median = stats_median(v, e->n);
	e->cv = stats_sd(v, e->n) / fabs(stats_mean(v, e->n));
	e->robust_cv = 1.4826 * stats_mad(v, e->n) / fabs(median);
	e->bimodal = bimodal_detect(v, e->n);
}

static void
free_entry(struct entry *e)
{
	free((char *)(size_t)e->row.name);
	free(e->pair.name[0]);
	free(e);
}

static void
add_spread(
    struct calibration *c, const struct entry *e, const struct sample *runs)
{
	size_t i = 0;

	if (!e->row.gate || e->row.exact)
		return;
	while (
	    i < c->nspreads && strcmp(c->spreads[i].metric, e->row.name) != 0)
		i++;
	if (i == c->nspreads) {
		c->spreads =
		    mem_resize(c->spreads, ++c->nspreads, sizeof *c->spreads);
		c->spreads[i] =
		    (struct session_spread){.metric = mem_str(e->row.name)};
	}
	history_add_build(&c->spreads[i].of, runs, e->pair.name[0]);
}

/* Adds a metric of n runs of a case. */
static void
add_entry(struct calibration *c, const struct run *v, size_t n,
    const char *name, const char *metric, const struct rules *r)
{
	struct entry *e = mem_new(sizeof *e);
	struct sample runs = {0};
	struct metric_facts of;

	e->kase = (struct kase){
	    .config = caseset_tree(c->configs, v->kase), .parts = &e->part};
	e->pair = (struct pairing){.side = {&e->kase},
	    .name = {mem_str(name)},
	    .reference = REFERENCE_ANY};
	e->row = (struct row){.pair = &e->pair, .name = mem_str(metric)};
	if (!rules_apply(r, &e->row, &e->metric) ||
	    (e->row.metric->instead_of && c->mixed)) {
		free_entry(e);
		return;
	}
	for (size_t i = 0; i < n; i++) {
		const char *session = intern_text(c->sessions, v[i].session);
		double x = json_get_num(v[i].metrics, metric, NAN);

		sample_add(&runs, &x,
		    &(struct round){.session = *session ? session : NULL,
			.block = v[i].block},
		    1);
	}
	e->interleaved = are_interleaved(v, n);
	e->n = runs.n;
	add_spread(c, e, &runs);
	infer_prior(&of, (struct row *[]){&e->row}, 1, c->host, r);
	judge_windows(e, &of.prior, runs.v, runs.n, c->runs);
	measure_noise(e, runs.v);
	sample_free(&runs);
	c->entries = mem_grow(
	    c->entries, c->nentries, &c->entrycap, sizeof(struct entry *));
	c->entries[c->nentries++] = e;
}

/* Adds the metrics of n runs of a case, by name. */
static void
add_case(struct calibration *c, const struct run *v, size_t n, const char *name,
    const struct rules *r)
{
	struct intern *metrics = intern_new();
	const char **sorted;
	uint32_t *rank;
	size_t m;

	for (size_t i = 0; i < n; i++)
		for (const struct json *j = json_first(v[i].metrics); j;
		     j = json_next(j))
			intern_id(metrics, json_key(j));
	m = intern_count(metrics);
	rank = intern_rank(metrics);
	sorted = mem_array(m + 1, sizeof *sorted);
	for (size_t i = 0; i < m; i++)
		sorted[rank[i]] = intern_text(metrics, i);
	for (size_t i = 0; i < m; i++)
		add_entry(c, v, n, name, sorted[i], r);
	free(sorted);
	free(rank);
	intern_free(metrics);
}

struct calibration *
calibrate(
    const char *const *files, size_t n, size_t runs, const struct rules *r)
{
	struct calibration *c = mem_new(sizeof *c);
	const struct json **config;
	struct casename *names;
	size_t ncases, end;

	c->runs = runs;
	c->configs = caseset_new();
	c->sessions = intern_new();
	if (read_runs(c, files, n) < 0) {
		calibrate_free(c);
		return NULL;
	}
	if (c->mixed)
		err_say("the runs were measured beside several reference "
			"servers: ratios to them are not calibrated");
	ncases = caseset_count(c->configs);
	config = mem_array(ncases + 1, sizeof *config);
	for (size_t i = 0; i < ncases; i++)
		config[i] = caseset_tree(c->configs, i);
	names = casename_new(config, ncases);
	for (size_t i = 0; i < c->n; i = end) {
		char *name = casename_of(names, config[c->v[i].kase]);

		end = i;
		while (end < c->n && c->v[end].kase == c->v[i].kase)
			end++;
		add_case(c, &c->v[i], end - i, name, r);
		free(name);
	}
	casename_free(names);
	free(config);
	if (c->nentries)
		return c;
	err_say("nothing to calibrate: no run has a metric that is judged");
	calibrate_free(c);
	return NULL;
}

void
calibrate_free(struct calibration *c)
{
	if (!c)
		return;
	for (size_t i = 0; i < c->nentries; i++)
		free_entry(c->entries[i]);
	for (size_t i = 0; i < c->n; i++)
		json_free(c->v[i].metrics);
	for (size_t i = 0; i < c->nstarts; i++)
		free(c->starts[i]);
	free(c->reference);
	free(c->entries);
	free(c->v);
	free(c->starts);
	for (size_t i = 0; i < c->nspreads; i++)
		free(c->spreads[i].metric);
	free(c->spreads);
	caseset_free(c->configs);
	intern_free(c->sessions);
	free(c);
}

static void
add_percent_cell(struct table *t, double v)
{
	table_take(
	    t, isfinite(v) ? mem_printf("%.1f%%", 100 * v) : mem_str("-"));
}

static void
add_alarms_cell(struct table *t, const struct alarm_counts *a)
{
	table_take(t,
	    a->windows ? mem_printf("%zu of %zu, %.1f%%", a->alarms, a->windows,
			     100 * (double)a->alarms / (double)a->windows)
		       : mem_str("too few runs"));
}

static void
add_entry_row(struct table *t, const struct entry *e)
{
	table_cell(t, e->pair.name[0]);
	table_cell(t, e->row.name);
	table_take(t, mem_printf("%zu", e->n));
	add_percent_cell(t, e->cv);
	add_percent_cell(t, e->robust_cv);
	table_take(
	    t, isnan(e->lag1) ? mem_str("-") : mem_printf("%.2f", e->lag1));
	add_percent_cell(t, e->row.margin);
	for (size_t w = 0; w < WAYS; w++) {
		add_alarms_cell(t, &e->of[w]);
		add_percent_cell(t, e->of[w].margin);
	}
	table_cell(t, e->bimodal ? "two levels" : "");
}

static void
write_total(struct str *s, const struct calibration *c, enum arrangement w)
{
	size_t windows = 0, n = 0;

	for (size_t i = 0; i < c->nentries; i++) {
		windows += c->entries[i]->of[w].windows;
		n += c->entries[i]->of[w].alarms;
	}
	str_printf(s, "%s: %zu of %zu comparisons gave an alarm", way_names[w],
	    n, windows);
	if (windows)
		str_printf(s, ", %.1f%%", 100 * (double)n / (double)windows);
	str_addc(s, '\n');
}

static void
write_spreads(struct str *s, const struct calibration *c)
{
	bool any = false;

	for (size_t i = 0; i < c->nspreads; i++) {
		struct moderate v = history_variance(&c->spreads[i].of);

		if (!(v.df > 0))
			continue;
		str_visible(s, c->spreads[i].metric);
		str_printf(s,
		    ": the means of %.0f sessions differ by %.2f%% (standard "
		    "deviation).\n",
		    v.df + 1, 100 * sqrt(v.var));
		any = true;
	}
	if (!any)
		str_printf(s,
		    "How much sessions differ is not known: runs of %d or more "
		    "named sessions show it.\n",
		    HISTORY_DF + 1);
}

void
calibrate_text(struct str *s, const struct calibration *c)
{
	struct table *t = table_new();

	table_titles(t,
	    "case|metric|>runs|>cv|>robust cv|>lag-1|>margin|>interleaved|"
	    ">needs|>apart|>needs|");
	for (size_t i = 0; i < c->nentries; i++)
		add_entry_row(t, c->entries[i]);
	table_print(t, s, false);
	table_free(t);
	str_printf(s,
	    "All runs are treated as one build, %zu runs each; each row is "
	    "judged alone.\n",
	    c->runs);
	for (size_t w = 0; w < WAYS; w++)
		write_total(s, c, (enum arrangement)w);
	write_spreads(s, c);
	str_add(s,
	    "A policy gets the margin of interleaved sides where the runs were "
	    "interleaved, else the larger one.\n");
}

/* Rounds up, so that the margin covers the alarms. Caller frees; NULL: 100 % or
 * more. */
static char *
format_margin(double v)
{
	double hundredths = ceil(1e4 * v - 1e-9);

	if (hundredths > 9999)
		return NULL;
	return mem_printf("%.2f%%", hundredths / 100);
}

/* Takes the rule. */
static void
write_rule(struct str *s, struct json *rule, const char **sep)
{
	str_add(s, *sep);
	json_append(s, rule);
	*sep = ",\n";
	json_free(rule);
}

static void
write_session_rule(
    struct str *s, const struct session_spread *of, const char **sep)
{
	struct moderate v = history_variance(&of->of);
	char *text = v.df > 0 ? format_margin(sqrt(v.var)) : NULL;
	struct json *rule, *session;

	if (!text)
		return;
	rule = json_object();
	session = json_object();
	json_set_str(rule, "metric", of->metric);
	json_set_str(session, "sd", text);
	json_set_num(session, "df", v.df);
	json_set(rule, "session", session);
	write_rule(s, rule, sep);
	free(text);
}

void
calibrate_policy(struct str *s, const struct calibration *c)
{
	const char *sep = "";

	str_add(s, "{\"rules\": [\n");
	for (size_t i = 0; i < c->nspreads; i++)
		write_session_rule(s, &c->spreads[i], &sep);
	for (size_t i = 0; i < c->nentries; i++) {
		const struct entry *e = c->entries[i];
		double v = e->row.margin;
		struct json *rule;
		char *text;

		v = fmax(v, e->of[TOGETHER].margin);
		if (!e->interleaved)
			v = fmax(v, e->of[APART].margin);
		text = format_margin(v);
		if (!e->of[APART].windows || !text) {
			free(text);
			continue;
		}
		rule = json_object();
		json_set_str(rule, "metric", e->row.name);
		json_set(rule, "case", json_dup(e->kase.config));
		json_set_str(rule, "margin", text);
		write_rule(s, rule, &sep);
		free(text);
	}
	str_add(s, "\n]}\n");
}
