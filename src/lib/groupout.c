#include "groupout.h"
#include "caseset.h"
#include "counted.h"
#include "runseries.h"
#include "metricsummary.h"
#include "group.h"
#include "hist.h"
#include "histcodec.h"
#include "histdiff.h"
#include "json.h"
#include "jsontext.h"
#include "mem.h"
#include "num.h"
#include "merged.h"
#include "metric.h"
#include "sessions.h"
#include "record.h"
#include "rows.h"
#include "sink.h"
#include "str.h"

#include <stdlib.h>
#include <string.h>

/* Appends the list of sessions. Returns the index in it of each run's session,
 * or NULL for one session at most. The caller frees it. */
static uint32_t *
append_sessions(struct str *to, struct groupout *s, const struct rows_run *runs,
    const uint32_t *at, size_t n)
{
	uint32_t *ids = mem_resize(NULL, n, sizeof *ids), last = ROWS_UNKNOWN;
	size_t k = 0;

	for (size_t i = 0; i < n; i++) {
		uint32_t id = runs[at[i]].session;

		if (id != ROWS_UNKNOWN && id != last) {
			if (!k++)
				str_add(to, ",\"sessions\":[");
			jsontext_comma(to);
			jsontext_quote(to, sessions_session(s->sessions, id));
			last = id;
		}
		ids[at[i]] = k ? (uint32_t)k - 1 : 0;
	}
	if (k)
		str_addc(to, ']');
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

/* Adds a percentile, if at least ten counts lie beyond it. */
static void
add_percentile(struct json *to, const struct metric *m, const char *stem,
    double ms, const struct hist *h)
{
	struct str key = {0};

	if (!histdiff_shown(hist_count(h), m->quantile))
		return;
	str_addn(&key, m->name, strcspn(m->name, "_"));
	str_printf(&key, "_%s_ms", stem);
	json_set_num(to, key.s, ms * (double)hist_quantile(h, m->quantile));
	str_free(&key);
}

/* Adds the percentiles of a run, and those that are of interest only over many
 * runs. */
static void
add_percentiles(struct json *to, const char *name, const struct hist *h)
{
	static const struct metric more[] = {{.name = "p90", .quantile = .9},
	    {.name = "p9999", .quantile = .9999}};
	struct str stem = {0}, key = {0};
	double ms = parse_time_unit(name, &stem), n = (double)hist_count(h);

	if (ms > 0 && n > 0) {
		for (const struct metric *m = metric_table; m->name; m++)
			if (metric_is_percentile(m, "latency_ns") &&
			    m->quantile < 1)
				add_percentile(to, m, stem.s, ms, h);
		for (size_t i = 0; i < sizeof more / sizeof *more; i++)
			add_percentile(to, &more[i], stem.s, ms, h);
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

/* Adds the settings of an environment that n runs have. */
static void
add_settings(struct json *all, struct json *counts, struct json *varied,
    const struct json *env, double n)
{
	for (const struct json *j = json_first(env); j; j = json_next(j)) {
		const char *name = json_key(j);
		const struct json *before = json_get(all, name);

		json_set_num(counts, name, json_get_num(counts, name, 0) + n);
		if (!before)
			json_set(all, name, json_dup(j));
		else if (!json_equal(before, j))
			json_set_bool(varied, name, true);
	}
}

/* Appends the members of an object. */
static void
append_members(struct str *to, const struct json *j)
{
	size_t at;

	if (!json_first(j))
		return;
	jsontext_comma(to);
	at = to->len;
	json_append(to, j);
	to->len -= 2; /* without the brackets */
	memmove(to->s + at, to->s + at + 1, to->len - at);
}

/* Appends the settings that are equal in all runs, and the names of those that
 * differ. */
static void
append_common_settings(
    struct str *to, const struct group *g, const struct caseset *envs)
{
	struct json *all = json_object(), *counts = json_object();
	struct json *varied = json_object(), *out = json_object(), *env;
	struct json *names = json_array();

	for (size_t i = 0; i < g->nenvs; i++) {
		if (g->envs[i].env == GROUP_NO_ENV)
			continue;
		env = caseset_value(envs, g->envs[i].env);
		add_settings(all, counts, varied, env, g->envs[i].n);
		json_free(env);
	}
	env = record_sorted(all);
	for (const struct json *j = json_first(env); j; j = json_next(j)) {
		if (json_get(varied, json_key(j)))
			json_push(names, json_string(json_key(j)));
		else if (json_get_num(counts, json_key(j), 0) ==
		    (double)(g->rows.n + g->failed))
			json_set(out, json_key(j), json_dup(j));
	}
	jsontext_key(to, "env");
	json_append(to, out);
	if (json_first(names)) {
		jsontext_key(to, "env_varied");
		json_append(to, names);
	}
	json_free(all);
	json_free(counts);
	json_free(varied);
	json_free(out);
	json_free(names);
	json_free(env);
}

static void
append_environment(
    struct str *to, const struct group *g, const struct caseset *envs)
{
	size_t only = g->nenvs == 1 ? g->envs->env : GROUP_NO_ENV;

	if (only == GROUP_NO_ENV) {
		append_common_settings(to, g, envs);
		return;
	}
	jsontext_key(to, "env");
	str_add(to, caseset_text(envs, only));
}

/* Appends the texts in order, with how often each came if 'counts'. */
static void
append_tallies(struct str *to, const char *key, struct group_tally *v, size_t n,
    bool counts)
{
	if (!n)
		return;
	qsort(v, n, sizeof *v, str_compare);
	jsontext_key(to, key);
	str_addc(to, counts ? '{' : '[');
	for (size_t i = 0; i < n; i++) {
		jsontext_comma(to);
		jsontext_quote(to, v[i].text);
		if (!counts)
			continue;
		str_addc(to, ':');
		num_append(to, (double)v[i].n);
	}
	str_addc(to, counts ? '}' : ']');
}

/* Returns what was counted of each run, or NULL if none was; *rc is -1 after an
 * error. The caller frees it. */
static double *
read_counts(const struct rows *r, struct scratch *s, int *rc)
{
	size_t c = rows_find(r, COUNTED_METRIC);
	double *v;

	if (c == r->ncols)
		return NULL;
	v = mem_resize(NULL, r->n, sizeof *v);
	*rc = rows_values(r, s, c, v);
	return v;
}

/* Reads the values of a metric; those of runs that were only measured are left
 * out where others were counted. */
static int
read_values(const struct rows *r, struct scratch *s, size_t column,
    const double *counts, double *v)
{
	const struct metric m = metric_guess(r->cols[column].name);
	int rc = rows_values(r, s, column, v);

	if (rc == 0 && counts && counted_may_be(&m) &&
	    counted_any(v, counts, r->n))
		counted_keep(true, v, counts, r->n);
	return rc;
}

/* Writes "metrics":{...}. Returns 0, or -1 and an error is reported. */
static int
write_metrics(struct sink *o, struct groupout *s, struct group *g,
    struct metric_summary *d, bool brief)
{
	double *v = mem_resize(NULL, d->n, sizeof *v), *counts;
	int rc = 0;

	counts = read_counts(&g->rows, s->scratch, &rc);
	jsontext_key(&o->s, "metrics");
	str_addc(&o->s, '{');
	for (size_t c = 0; c < g->rows.ncols && rc == 0; c++) {
		const char *name = g->rows.cols[c].name;

		if (c)
			str_addc(&o->s, ',');
		jsontext_quote(&o->s, name);
		str_add(&o->s, ":{");
		rc = read_values(&g->rows, s->scratch, c, counts, v);
		if (rc == 0)
			metric_summary_write(o, d, name, v, brief);
		str_addc(&o->s, '}');
	}
	str_addc(&o->s, '}');
	free(counts);
	free(v);
	return rc;
}

/* Appends the members of the record before its sessions. */
static void
append_head(struct str *to, struct groupout *s, const struct group *g)
{
	str_add(to, "{\"type\":\"summary\",\"v\":1");
	jsontext_key(to, "subject");
	str_add(to, caseset_text(s->subjects, g->subject));
	jsontext_key(to, "config");
	str_add(to, caseset_text(s->configs, g->config));
	jsontext_num(to, "n", (double)g->rows.n);
	jsontext_num(to, "failed", (double)g->failed);
	if (g->doubled)
		jsontext_num(to, "doubled", (double)g->doubled);
}

/* Appends the members after the metrics. Returns 0, or -1 after an error. */
static int
append_tail(struct str *to, struct groupout *s, struct group *g,
    const uint32_t *at, bool brief)
{
	struct json *j = json_object();
	int rc = brief ? 0 : add_histograms(g, s->scratch, j);

	append_members(to, j);
	json_free(j);
	if (rc < 0)
		return rc;
	append_environment(to, g, s->envs);
	append_tallies(to, "bound", g->bound, g->nbound, true);
	append_tallies(to, "errors", g->errors, g->nerrors, false);
	if (!g->series)
		return 0;
	j = json_object();
	run_series_summary(g->series, at, g->rows.n, j);
	if (brief)
		json_del(j, "quantiles");
	append_members(to, j);
	json_free(j);
	return 0;
}

/* Returns each run's machine, from 1; 0: it has no session. Caller frees. */
static uint32_t *
number_machines(struct groupout *s, const struct rows_run *runs, size_t n)
{
	uint32_t *m = mem_resize(NULL, n, sizeof *m);

	for (size_t i = 0; i < n; i++)
		m[i] = runs[i].session == ROWS_UNKNOWN ? 0
						       : 1 +
			(uint32_t)sessions_machine(
			    s->sessions, runs[i].session);
	return m;
}

int
groupout_write(struct sink *o, struct groupout *s, struct group *g, bool brief)
{
	size_t n = g->rows.n;
	struct rows_run *runs = mem_resize(NULL, n, sizeof *runs);
	uint32_t *at = NULL, *ids = NULL, *of = NULL;
	struct metric_summary d;
	int rc = -1;

	if (rows_runs(&g->rows, s->scratch, runs) == 0)
		at = rows_order(&g->rows, s->scratch, runs, s->rank);
	if (at) {
		append_head(&o->s, s, g);
		ids = append_sessions(&o->s, s, runs, at, n);
		of = number_machines(s, runs, n);
		d = (struct metric_summary){.runs = runs,
		    .at = at,
		    .ids = ids,
		    .machines = of,
		    .n = n,
		    .series = g->series,
		    .rule = &s->rule,
		    .precision = s->precision};
		metric_summary_begin(&d);
		rc = write_metrics(o, s, g, &d, brief);
		metric_summary_free(&d);
	}
	if (rc == 0)
		rc = append_tail(&o->s, s, g, at, brief);
	if (rc == 0)
		str_addc(&o->s, '}');
	free(runs);
	free(at);
	free(ids);
	free(of);
	return rc;
}
