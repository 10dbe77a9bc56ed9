#include "calibrate.h"
#include "between.h"
#include "casename.h"
#include "err.h"
#include "infer.h"
#include "json.h"
#include "judge.h"
#include "judge/claim.h"
#include "mem.h"
#include "series.h"
#include "bimodal.h"
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
	struct pairing pair;
	struct kase kase;
	size_t n;
	double cv, robust_cv, lag1;
	bool bimodal, interleaved;
	struct alarm_counts of[WAYS];
};

/* How much sessions differ in a metric that is judged and has noise. */
struct session_spread {
	char *metric;
	struct between of;
};

struct calibration {
	struct series *series;
	struct session_spread *spreads;
	size_t nspreads;
	struct entry **v;
	size_t n, cap;
	size_t runs;
};

/* Judges as a report of this row alone would. */
static void
judge_window(
    struct alarm_counts *t, const struct row *row, const struct sample s[2])
{
	struct verdict_facts f = row->exact
	    ? verdict_measure_exact(s[0].v, s[0].n, s[1].v, s[1].n)
	    : infer_samples(s, metric_has_clock(&row->metric));
	/* The margin that is sought is left out at first. */
	struct claim any = verdict_make_claim(&f, 0);
	struct claim beyond = verdict_make_claim(&f, row->margin);
	enum verdict v;

	claim_choose(&any, 1, false);
	claim_choose(&beyond, 1, false);
	v = verdict_decide(&f, row->metric.better, row->margin, beyond.word);
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
judge_windows(struct entry *e, double *v, size_t n, size_t runs)
{
	double *x = mem_array(2 * runs, sizeof *x), *y = x + runs;
	struct round *rounds = mem_array(2 * runs, sizeof *rounds);
	size_t most = n < 2 * runs ? 0 : n - 2 * runs + 1;

	for (size_t w = 0; w < WAYS; w++)
		e->of[w].sizes = mem_array(most + 1, sizeof *x);
	for (size_t i = 0; i < 2 * runs; i++)
		rounds[i] = (struct round){"", (double)i};
	for (size_t s = 0; s < most; s++) {
		for (size_t i = 0; i < runs; i++) {
			x[i] = v[s + 2 * i];
			y[i] = v[s + 2 * i + 1];
		}
		judge_window(&e->of[TOGETHER], &e->row,
		    (struct sample[]){{x, rounds, runs}, {y, rounds, runs}});
		judge_window(&e->of[APART], &e->row,
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
	free(e->row.name);
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
	between_add(&c->spreads[i].of, runs, e->pair.name[0]);
}

static void
add_entry(struct calibration *c, const struct series_case *k, const char *name,
    const char *metric, const struct rules *r)
{
	struct entry *e = mem_new(sizeof *e);
	struct sample runs;

	e->kase.config = k->config;
	e->pair = (struct pairing){.side = {&e->kase},
	    .name = {mem_str(name)},
	    .reference = REFERENCE_ANY};
	e->row = (struct row){.pair = &e->pair, .name = mem_str(metric)};
	if (!rules_apply(r, &e->row) ||
	    (e->row.metric.instead_of && c->series->mixed)) {
		free_entry(e);
		return;
	}
	e->interleaved = k->interleaved;
	runs = series_sample(c->series, k, metric);
	e->n = runs.n;
	add_spread(c, e, &runs);
	judge_windows(e, runs.v, runs.n, c->runs);
	measure_noise(e, runs.v);
	sample_free(&runs);
	c->v = mem_grow(c->v, c->n, &c->cap, sizeof(struct entry *));
	c->v[c->n++] = e;
}

struct calibration *
calibrate(
    const char *const *files, size_t n, size_t runs, const struct rules *r)
{
	struct series *s = series_read(files, n);
	const struct json **configs;
	struct calibration *c;
	struct casename *names;

	if (!s)
		return NULL;
	c = mem_new(sizeof *c);
	c->series = s;
	c->runs = runs;
	configs = mem_array(s->n + 1, sizeof *configs);
	if (s->mixed)
		err_say("the runs were measured beside several reference "
			"servers: ratios to them are not calibrated");
	for (size_t i = 0; i < s->n; i++)
		configs[i] = s->cases[i].config;
	names = casename_new(configs, s->n);
	free(configs);
	for (size_t i = 0; i < s->n; i++) {
		const struct series_case *k = &s->cases[i];
		char *name = casename_of(names, k->config);
		size_t m;
		const char **metrics = series_metrics(k, &m);

		for (size_t j = 0; j < m; j++)
			add_entry(c, k, name, metrics[j], r);
		free(metrics);
		free(name);
	}
	casename_free(names);
	if (c->n)
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
	for (size_t i = 0; i < c->n; i++)
		free_entry(c->v[i]);
	free(c->v);
	for (size_t i = 0; i < c->nspreads; i++)
		free(c->spreads[i].metric);
	free(c->spreads);
	series_free(c->series);
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

	for (size_t i = 0; i < c->n; i++) {
		windows += c->v[i]->of[w].windows;
		n += c->v[i]->of[w].alarms;
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
		struct moderate v = between_get(&c->spreads[i].of);

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
		    BETWEEN_DF + 1);
}

void
calibrate_text(struct str *s, const struct calibration *c)
{
	struct table *t = table_new();

	table_titles(t,
	    "case|metric|>runs|>cv|>robust cv|>lag-1|>margin|>interleaved|"
	    ">needs|>apart|>needs|");
	for (size_t i = 0; i < c->n; i++)
		add_entry_row(t, c->v[i]);
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
	struct moderate v = between_get(&of->of);
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
	for (size_t i = 0; i < c->n; i++) {
		const struct entry *e = c->v[i];
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
