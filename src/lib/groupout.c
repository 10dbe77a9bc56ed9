#include "groupout.h"
#include "caseset.h"
#include "runseries.h"
#include "metricsummary.h"
#include "group.h"
#include "hist.h"
#include "histcodec.h"
#include "histdiff.h"
#include "json.h"
#include "mem.h"
#include "merged.h"
#include "sessions.h"
#include "record.h"
#include "rows.h"
#include "sink.h"
#include "str.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static int
compare_by_name(const void *a, const void *b)
{
	const struct group_setting *x = a, *y = b;

	return strcmp(x->name, y->name);
}

static int
compare_by_text(const void *a, const void *b)
{
	const struct group_tally *x = a, *y = b;

	return strcmp(x->text, y->text);
}

/* Sets rec.sessions. Returns the index in it of each run's session, or NULL for
 * one session at most. The caller frees it. */
static uint32_t *
number_sessions(const struct groupout *s, const struct rows_run *runs,
    const uint32_t *at, size_t n, struct json *rec)
{
	struct json *names = json_array();
	uint32_t *ids = mem_array(n + 1, sizeof *ids), last = ROWS_UNKNOWN;
	size_t k = 0;

	for (size_t i = 0; i < n; i++) {
		uint32_t id = runs[at[i]].session;

		if (id != ROWS_UNKNOWN && id != last) {
			json_push(names,
			    json_string(sessions_session(s->places, id)));
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

/* Appends "latency" of latency_ns to the stem. Returns ms per unit, or 0. */
static double
parse_time_unit(const char *name, struct str *stem)
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

/* Adds percentiles that at least ten counts lie beyond. */
static void
add_percentiles(struct json *to, const char *name, const struct hist *h)
{
	static const struct {
		const char *name;
		double q;
	} ps[] = {{"p50", .5}, {"p90", .9}, {"p95", .95}, {"p99", .99},
	    {"p999", .999}, {"p9999", .9999}};
	struct str stem = {0}, key = {0};
	double ms = parse_time_unit(name, &stem), n = (double)hist_count(h);

	if (ms > 0 && n > 0) {
		for (size_t i = 0; i < sizeof ps / sizeof *ps; i++) {
			if (!histdiff_shown(hist_count(h), ps[i].q))
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

static int
add_histograms(struct group *g, struct scratch *s, struct json *rec)
{
	struct json *texts = json_object(), *all = json_object();
	const char *name;
	struct hist *h;
	size_t i = 0;
	int rc;

	while ((rc = merged_next(&g->hists, s, &i, &name, &h)) > 0) {
		struct str text = {0};

		add_percentiles(all, name, h);
		histcodec_encode(&text, h);
		json_set_str(texts, name, text.s);
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
	return rc;
}

static void
add_environment(const struct groupout *s, struct group *g, struct json *rec)
{
	struct json *env = json_object(), *varied = json_array();

	group_settle(g, s->envs);
	if (g->nenv)
		qsort(g->env, g->nenv, sizeof *g->env, compare_by_name);
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
add_counts(struct group *g, struct json *rec)
{
	struct json *j;

	if (g->nbound) {
		qsort(g->bound, g->nbound, sizeof *g->bound, compare_by_text);
		j = json_object();
		for (size_t i = 0; i < g->nbound; i++)
			json_set_num(
			    j, g->bound[i].text, (double)g->bound[i].n);
		json_set(rec, "bound", j);
	}
	if (g->nerrors) {
		qsort(
		    g->errors, g->nerrors, sizeof *g->errors, compare_by_text);
		j = json_array();
		for (size_t i = 0; i < g->nerrors; i++)
			json_push(j, json_string(g->errors[i].text));
		json_set(rec, "errors", j);
	}
}

/* Writes "metrics":{...}. Returns 0, or -1 and an error is reported. */
static int
write_metrics(struct sink *o, const struct groupout *s, struct group *g,
    struct metric_summary *d)
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
			metric_summary_write(
			    o, d, g->rows.cols[c].name, v, s->brief);
		str_addc(&o->s, '}');
		json_free(name);
	}
	str_addc(&o->s, '}');
	free(v);
	return rc;
}

/* Writes the members of the record before its metrics. */
static void
write_head(struct sink *o, const struct groupout *s, const struct group *g,
    struct json *rest)
{
	struct json *j = record_new("summary");

	json_append(&o->s, j);
	o->s.len--; /* drops the bracket: members follow */
	str_add(&o->s, ",\"subject\":");
	str_add(&o->s, caseset_text(s->subjects, g->subject));
	str_add(&o->s, ",\"config\":");
	str_add(&o->s, caseset_text(s->configs, g->config));
	metric_summary_members(o, rest);
	json_free(j);
}

static struct json *
make_counts(const struct group *g)
{
	struct json *j = json_object();

	json_set_num(j, "n", (double)g->rows.n);
	json_set_num(j, "failed", (double)g->failed);
	if (g->doubled)
		json_set_num(j, "doubled", (double)g->doubled);
	return j;
}

/* Adds the members after the metrics. Returns 0, or -1 after an error. */
static int
add_tail(const struct groupout *s, struct group *g, const uint32_t *at,
    struct json *j)
{
	if (!s->brief && add_histograms(g, s->scratch, j) < 0)
		return -1;
	add_environment(s, g, j);
	add_counts(g, j);
	run_series_summary(g->course, at, g->rows.n, g->failed, j);
	if (s->brief)
		json_del(j, "quantiles");
	return 0;
}

/* Returns each run's machine, from 1; 0: it has no session. Caller frees. */
static uint32_t *
number_machines(const struct groupout *s, const struct rows_run *runs, size_t n)
{
	uint32_t *m = mem_array(n + 1, sizeof *m);

	for (size_t i = 0; i < n; i++)
		if (runs[i].session != ROWS_UNKNOWN)
			m[i] = 1 +
			    (uint32_t)sessions_machine(
				s->places, runs[i].session);
	return m;
}

int
groupout_put(struct sink *o, const struct groupout *s, struct group *g)
{
	size_t n = g->rows.n;
	struct rows_run *runs = mem_array(n + 1, sizeof *runs);
	uint32_t *at = NULL, *ids = NULL, *of = NULL;
	struct json *j = make_counts(g);
	struct metric_summary d = {0};
	int rc = -1;

	if (rows_runs(&g->rows, s->scratch, runs) < 0)
		goto out;
	at = rows_order(&g->rows, s->scratch, runs, s->rank);
	if (!at)
		goto out;
	ids = number_sessions(s, runs, at, n, j);
	of = number_machines(s, runs, n);
	write_head(o, s, g, j);
	d = (struct metric_summary){runs, at, ids, of, n, g->course, s->rule,
	    s->precision, true, true, {{0}}};
	metric_summary_runs(&d);
	if (write_metrics(o, s, g, &d) < 0)
		goto out;
	json_free(j);
	j = json_object();
	if (add_tail(s, g, at, j) < 0)
		goto out;
	metric_summary_members(o, j);
	rc = 0;
out:
	metric_summary_free(&d);
	json_free(j);
	free(runs);
	free(at);
	free(ids);
	free(of);
	return rc;
}
