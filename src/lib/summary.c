#include "summary.h"
#include "bimodal.h"
#include "caseset.h"
#include "counted.h"
#include "group.h"
#include "hashset.h"
#include "hist.h"
#include "histcodec.h"
#include "intern.h"
#include "json.h"
#include "jsonl.h"
#include "jsontext.h"
#include "mem.h"
#include "metric.h"
#include "num.h"
#include "precision.h"
#include "record.h"
#include "rows.h"
#include "runrecord.h"
#include "runseries.h"
#include "sessions.h"
#include "sink.h"
#include "stats.h"
#include "str.h"

#include <ctype.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct common { /* what the groups have in common */
	struct caseset *subjects, *configs, *envs;
	struct sessions *sessions;
	uint32_t *rank;         /* sessions_order */
	struct stats_rule rule; /* cache; zeroed at first */
	double precision;       /* wanted, or 0 */
};

#define OUTLIER 5 /* an outlier has a modified z above this */
#define ENOUGH 5  /* least values for a list of outliers */

/* --- one metric of the runs of a case, as members of a JSON object, which
 * vkb-stats(1) lists. Values are written one by one, not as a tree. */

struct metric_summary {
	const struct rows_run *runs;
	const uint32_t *at;       /* indexes of runs, in order */
	const uint32_t *ids;      /* session of each run; NULL: at most one */
	const uint32_t *machines; /* machine number of each run; 0: unknown */
	size_t n;
	const struct run_series *series; /* NULL if runs have none */
	struct stats_rule *rule;   /* cache; filled by the metric before */
	double precision;          /* wanted, or 0 */
	const struct group *group; /* has the tails of the runs */
	/* Set by begin_metrics. */
	bool placed; /* every run has a session */
	bool timed;  /* the position of every run in its session is known */
	double *sorted;
	struct variance_run *noise;
	struct summary_run *with; /* that have the metric: list_runs */
};

/* What is given to a comparison in place of written. */
struct given {
	struct summary_compared rest;
	summary_take *take;
	void *to;
};

static void
append_outlier(struct str *to, size_t at, uint32_t index, double v, double z)
{
	jsontext_comma(to);
	str_addc(to, '{');
	jsontext_num(to, "at", (double)at);
	if (index != ROWS_UNKNOWN)
		jsontext_num(to, "index", index);
	jsontext_num(to, "value", v);
	jsontext_num(to, "z", z); /* absent if the MAD is 0 */
	str_addc(to, '}');
}

static void
append_outliers(struct str *to, const struct metric_summary *d, const double *v,
    double mid, double mad)
{
	bool any = false;

	for (size_t i = 0, place = 0; i < d->n; i++) {
		double x = v[d->at[i]], z;

		if (isnan(x))
			continue;
		z = stats_modified_z(x, mid, mad);
		if (z > OUTLIER) {
			if (!any) {
				jsontext_key(to, "outliers");
				str_addc(to, '[');
			}
			any = true;
			append_outlier(
			    to, place, d->runs[d->at[i]].index, x, z);
		}
		place++;
	}
	if (any)
		str_addc(to, ']');
}

/* Call it when the members above are set. The caller frees what it sets. */
static void
begin_metrics(struct metric_summary *d)
{
	d->sorted = mem_resize(NULL, d->n, sizeof *d->sorted);
	d->noise = mem_resize(NULL, d->n, sizeof *d->noise);
	d->with = mem_resize(NULL, d->n, sizeof *d->with);
	d->placed = d->timed = true;
	for (size_t i = 0; i < d->n; i++) {
		const struct rows_run *r = &d->runs[i];

		if (r->session == ROWS_UNKNOWN)
			d->placed = d->timed = false;
		if (r->block == ROWS_UNKNOWN && r->index == ROWS_UNKNOWN &&
		    r->order == ROWS_UNKNOWN)
			d->timed = false;
	}
}

/* Appends the precision of the metric in the runs that have it. */
static void
append_noise(struct str *to, const struct metric_summary *d,
    struct precision *m, const char *name, const double *v)
{
	size_t known = 0;
	const double *within =
	    d->series ? run_series_within(d->series, name, &known) : NULL;

	m->n = 0;
	for (size_t i = 0; i < d->n; i++) {
		size_t k = d->at[i];

		if (isnan(v[k]))
			continue;
		d->noise[m->n++] =
		    (struct variance_run){v[k], k < known ? within[k] : NAN,
			d->placed && d->ids ? d->ids[k] : 0,
			d->placed ? d->machines[k] : 0};
	}
	m->runs = d->noise;
	m->timed = d->timed;
	precision_append(to, m, d->precision);
}

static void
append_interval(struct str *to, struct precision *m, const char *method)
{
	jsontext_key(to, "ci95");
	str_addc(to, '[');
	if (isfinite(m->lo))
		num_append(to, m->lo);
	if (isfinite(m->hi)) {
		jsontext_comma(to);
		num_append(to, m->hi);
	}
	str_addc(to, ']');
	jsontext_str(to, "ci95_method", method);
}

/* Appends the summary of n values in the order of the runs; sorts them. Returns
 * their MAD. */
static double
append_numbers(struct str *to, struct stats_rule *rule, bool timed, double *v,
    size_t n, struct precision *m)
{
	double lag1 = timed ? stats_lag1(v, n) : NAN, sd, mad, mid;
	const char *method;

	stats_sort(v, n);
	*m = (struct precision){.mean = stats_mean(v, n),
	    .median = stats_median(v, n),
	    .hi = INFINITY};
	sd = stats_sd(v, n);
	mad = stats_mad(v, n);
	mid = fabs(m->median);
	jsontext_num(to, "n", (double)n);
	jsontext_num(to, "median", m->median);
	jsontext_num(to, "mean", m->mean);
	jsontext_num(to, "sd", sd);
	if (m->mean != 0)
		jsontext_num(to, "cv_percent", 100 * sd / fabs(m->mean));
	method = stats_ci(rule, v, n, .95, &m->lo, &m->hi);
	if (method)
		append_interval(to, m, method);
	if (n >= 2)
		jsontext_num(to, "mad", mad);
	if (n >= 2 && mid != 0) {
		jsontext_num(to, "robust_cv_percent", 100 * 1.4826 * mad / mid);
		jsontext_num(to, "iqr_percent",
		    100 *
			(stats_quantile(v, n, .75) -
			    stats_quantile(v, n, .25)) /
			mid);
	}
	jsontext_num(to, "lag1", lag1);
	return mad;
}

/* What a record has: all; or all but values, blocks, sessions and histograms.
 */
enum content { WHOLE, BRIEF };

enum list { VALUES, BLOCKS, SESSIONS, TAILS };

/* Appends a list with an entry for each run that has a value. */
static void
append_list(
    struct sink *o, const struct summary_run *v, size_t n, enum list what)
{
	static const char *const keys[] = {",\"values\":[", ",\"blocks\":[",
	    ",\"sessions\":[", ",\"tails\":["};

	/* The first member has no comma. */
	str_add(&o->s, keys[what] + (o->s.s[o->s.len - 1] == '{'));
	for (size_t i = 0; i < n; i++) {
		if (what == TAILS)
			str_add(&o->s, v[i].tail);
		else
			num_append(&o->s,
			    what == VALUES       ? v[i].value
				: what == BLOCKS ? v[i].block
						 : v[i].session);
		sink_relieve(o);
		str_addc(&o->s, ',');
	}
	o->s.s[o->s.len - 1] = ']';
}

/* Lists the runs that have a value of a metric: 'v' has that of each run, or
 * NAN. Blocks and tails that one of them lacks are left out. Returns their
 * number. */
static size_t
list_runs(struct metric_summary *d, const char *name, const double *v)
{
	const struct group *g = d->group;
	const struct metric *of = g->ntails ? metric_find(name) : NULL;
	bool blocked = true, tails = of && of->rare_margin > 0;
	size_t n = 0;

	for (size_t i = 0; i < d->n; i++) {
		uint32_t at = d->at[i];
		const struct rows_run *r = &d->runs[at];

		if (isnan(v[at]))
			continue;
		blocked = blocked && r->block != ROWS_UNKNOWN &&
		    r->session != ROWS_UNKNOWN;
		d->with[n] = (struct summary_run){
		    v[at], r->block, d->ids ? d->ids[at] : 0, NULL};
		if (at < g->ntails)
			d->with[n].tail = g->tails[at];
		tails = tails && d->with[n].tail;
		n++;
	}
	for (size_t i = 0; i < n; i++) {
		if (!blocked)
			d->with[i].block = NAN;
		if (!blocked && !d->placed && d->ids)
			d->with[i].session = NAN;
		if (!tails)
			d->with[i].tail = NULL;
	}
	return n;
}

/* 'v' is that of list_runs, which were listed. */
static void
write_metric(struct sink *o, struct metric_summary *d, const char *name,
    const double *v, size_t n, enum content what)
{
	double mad, *sorted = d->sorted;
	const struct summary_run *runs = d->with;
	struct precision m;

	for (size_t i = 0; i < n; i++)
		sorted[i] = runs[i].value;
	mad = append_numbers(&o->s, d->rule, d->timed, sorted, n, &m);
	append_noise(&o->s, d, &m, name, v);
	if (bimodal_detect(sorted, n))
		jsontext_true(&o->s, "bimodal");
	jsontext_num(&o->s, "min", sorted[0]);
	jsontext_num(&o->s, "max", sorted[n - 1]);
	if (what != BRIEF) {
		append_list(o, runs, n, VALUES);
		if (!isnan(runs->block))
			append_list(o, runs, n, BLOCKS);
		if (d->ids && !isnan(runs->session))
			append_list(o, runs, n, SESSIONS);
		if (runs->tail)
			append_list(o, runs, n, TAILS);
	}
	if (n >= ENOUGH)
		append_outliers(&o->s, d, v, m.median, mad);
}

/* --- the record */

/* Appends the list of sessions. Returns the index in it of each run's session,
 * or NULL for one session at most. The caller frees it. */
static uint32_t *
append_sessions(struct str *to, struct common *s, const struct rows_run *runs,
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

void
summary_add_hists(struct group_hists *hists, struct json *rec)
{
	struct json *texts = json_object(), *all = json_object();
	const char *name;
	struct hist *h;
	size_t i = 0;

	while (group_next_hist(hists, &i, &name, &h)) {
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
    struct str *to, const struct group *g, struct caseset *envs)
{
	struct json *all = json_object(), *counts = json_object();
	struct json *varied = json_object(), *out = json_object(), *env;
	struct json *names = json_array();

	for (size_t i = 0; i < g->nenvs; i++) {
		if (g->envs[i].env == GROUP_NO_ENV)
			continue;
		add_settings(all, counts, varied,
		    caseset_tree(envs, g->envs[i].env), g->envs[i].n);
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
append_environment(struct str *to, const struct group *g, struct caseset *envs)
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

/* Returns what was counted of each run, or NULL if none was. The caller frees
 * it. */
static double *
read_counts(const struct rows *r)
{
	size_t c = rows_find(r, COUNTED_METRIC);
	double *v;

	if (c == r->ncols)
		return NULL;
	v = mem_resize(NULL, r->n, sizeof *v);
	rows_values(r, c, v);
	return v;
}

/* Reads the values of a metric; those of runs that were only measured are left
 * out where others were counted. */
static void
read_values(
    const struct rows *r, size_t column, const double *counts, double *v)
{
	struct metric m;

	rows_values(r, column, v);
	if (!counts)
		return;
	m = metric_guess(r->cols[column].name);
	if (counted_may_be(&m) && counted_any(v, counts, r->n))
		counted_keep(true, v, counts, r->n);
}

/* Writes "metrics":{...}, or gives the runs that have each of them. */
static void
write_metrics(struct sink *o, struct group *g, struct metric_summary *d,
    enum content what, struct given *given)
{
	double *v = mem_resize(NULL, d->n, sizeof *v);
	double *counts = read_counts(&g->rows);

	if (!given)
		str_add(&o->s, ",\"metrics\":{");
	for (size_t c = 0; c < g->rows.ncols; c++) {
		const char *name = g->rows.cols[c].name;
		size_t n;

		read_values(&g->rows, c, counts, v);
		n = list_runs(d, name, v);
		if (given) {
			given->take(given->to, name, d->with, n);
			continue;
		}
		if (c)
			str_addc(&o->s, ',');
		jsontext_quote(&o->s, name);
		str_add(&o->s, ":{");
		write_metric(o, d, name, v, n, what);
		str_addc(&o->s, '}');
	}
	if (!given)
		str_addc(&o->s, '}');
	free(counts);
	free(v);
}

/* Appends the members of the record before its sessions. */
static void
append_head(struct str *to, struct common *s, const struct group *g, bool given)
{
	str_add(to, "{\"type\":\"summary\",\"v\":1");
	if (!given) {
		jsontext_key(to, "subject");
		str_add(to, caseset_text(s->subjects, g->subject));
		jsontext_key(to, "config");
		str_add(to, caseset_text(s->configs, g->config));
	}
	jsontext_num(to, "n", (double)g->rows.n);
	jsontext_num(to, "failed", (double)g->failed);
	if (g->doubled)
		jsontext_num(to, "doubled", (double)g->doubled);
}

/* Appends the members after the metrics, but those that are given. */
static void
append_tail(struct str *to, struct common *s, struct group *g,
    const uint32_t *at, enum content what, struct given *given)
{
	struct json *j = json_object();

	if (what != BRIEF)
		summary_add_hists(&g->hists, j);
	if (given)
		given->rest.hists = json_detach(j, "hist");
	append_members(to, j);
	json_free(j);
	append_environment(to, g, s->envs);
	append_tallies(to, "bound", g->bound, g->nbound, true);
	append_tallies(to, "errors", g->errors, g->nerrors, false);
	if (!g->series)
		return;
	j = json_object();
	run_series_summary(g->series, at, g->rows.n, j);
	if (what == BRIEF)
		json_del(j, "quantiles");
	if (given)
		given->rest.quantiles = json_detach(j, "quantiles");
	append_members(to, j);
	json_free(j);
}

/* Returns each run's machine, from 1; 0: it has no session. Caller frees. */
static uint32_t *
number_machines(struct common *s, const struct rows_run *runs, size_t n)
{
	uint32_t *m = mem_resize(NULL, n, sizeof *m);

	for (size_t i = 0; i < n; i++)
		m[i] = runs[i].session == ROWS_UNKNOWN ? 0
						       : 1 +
			(uint32_t)sessions_machine(
			    s->sessions, runs[i].session);
	return m;
}

/* Writes a group of runs as a summary record, or what is not given of it. */
static void
write_group(struct sink *o, struct common *s, struct group *g,
    enum content what, struct given *given)
{
	const struct rows_run *runs = g->rows.runs;
	size_t n = g->rows.n;
	uint32_t *at = rows_order(&g->rows, s->rank), *ids, *of;
	struct metric_summary d;

	append_head(&o->s, s, g, given);
	ids = append_sessions(&o->s, s, runs, at, n);
	of = number_machines(s, runs, n);
	d = (struct metric_summary){.runs = runs,
	    .at = at,
	    .ids = ids,
	    .machines = of,
	    .n = n,
	    .series = g->series,
	    .rule = &s->rule,
	    .precision = s->precision,
	    .group = g};
	begin_metrics(&d);
	write_metrics(o, g, &d, what, given);
	append_tail(&o->s, s, g, at, what, given);
	str_addc(&o->s, '}');
	free(d.sorted);
	free(d.noise);
	free(d.with);
	free(at);
	free(ids);
	free(of);
}

/* --- all groups */

struct summary {
	struct group **groups;
	size_t n, cap;
	struct group *taken;  /* whose tails summary_compare gave */
	struct intern *pairs; /* of subject and config, for each group */
	struct common common;
	struct intern *names; /* of metrics */
	const char **hosts;   /* of each environment; an entry may be NULL */
	size_t nhosts, hostcap;
	struct run_record_reader *reader;
	struct hashset *seen;
	bool no_hists;
	bool sorted;
	bool shares;     /* the subjects and configurations are the caller's */
	struct sink out; /* its memory serves for all records */
};

struct summary *
summary_new(struct caseset *subjects, struct caseset *configs)
{
	struct summary *s = mem_new(sizeof *s);

	s->shares = subjects;
	s->seen = hashset_new();
	s->common.sessions = sessions_new();
	s->common.subjects = subjects ? subjects : caseset_new();
	s->common.configs = configs ? configs : caseset_new();
	s->common.envs = caseset_new();
	s->names = intern_new();
	s->pairs = intern_new();
	s->reader = run_record_reader_new();
	return s;
}

void
summary_set_precision(struct summary *s, double precision)
{
	s->common.precision = precision;
}

void
summary_ignore_hists(struct summary *s)
{
	s->no_hists = true;
}

void
summary_free(struct summary *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->n; i++)
		if (s->groups[i])
			group_free(s->groups[i]);
	if (s->taken)
		group_free(s->taken);
	if (!s->shares) {
		caseset_free(s->common.subjects);
		caseset_free(s->common.configs);
	}
	caseset_free(s->common.envs);
	intern_free(s->names);
	intern_free(s->pairs);
	free(s->hosts);
	run_record_reader_free(s->reader);
	sessions_free(s->common.sessions);
	free(s->groups);
	free(s->common.rank);
	hashset_free(s->seen);
	str_free(&s->out.s);
	free(s);
}

static struct group *
find_group(struct summary *s, size_t subject, size_t config)
{
	size_t id = intern_pair(s->pairs, subject, config);
	struct group *g;

	if (id < s->n)
		return s->groups[id];
	g = mem_new(sizeof *g);
	g->subject = subject;
	g->config = config;
	g->no_hists = s->no_hists;
	*MEM_ADD(s->groups, s->n, s->cap) = g;
	return g;
}

/* Is the run to be counted? Equal runs without a session are not duplicates. */
static bool
count_as_new(
    struct summary *s, struct group *g, uint32_t session, uint64_t hash)
{
	if (session != SESSIONS_UNKNOWN && hashset_add(s->seen, hash)) {
		g->doubled++;
		return false;
	}
	return true;
}

static size_t
find_env(struct summary *s, const struct jsonscan_text *t)
{
	size_t id =
	    t->s ? caseset_add(s->common.envs, t->s, t->n) : GROUP_NO_ENV;

	if (t->s && id == s->nhosts) {
		s->hosts = mem_grow(
		    s->hosts, s->nhosts, &s->hostcap, sizeof *s->hosts);
		s->hosts[s->nhosts++] =
		    json_get_str(caseset_tree(s->common.envs, id), "host");
	}
	return id;
}

static int
add_record(struct summary *s, const struct run_record *r, const char *where)
{
	size_t subject =
	    caseset_add(s->common.subjects, r->subject.s, r->subject.n);
	size_t config =
	    caseset_add(s->common.configs, r->config.s, r->config.n);
	size_t env = find_env(s, &r->env);
	uint32_t session = sessions_add(s->common.sessions, r->session.s,
	    r->session.n, env == GROUP_NO_ENV ? NULL : s->hosts[env]);
	struct group *g = find_group(s, subject, config);
	uint64_t hash = r->hash +
	    caseset_member_hash(s->common.subjects, subject, "subject") +
	    caseset_member_hash(s->common.configs, config, "config") +
	    (env == GROUP_NO_ENV
		    ? 0
		    : caseset_member_hash(s->common.envs, env, "env"));

	if (!count_as_new(s, g, session, hash))
		return 0;
	g->has_rate = r->nhists &&
	    metric_has_rate(caseset_tree(s->common.configs, config));
	return group_add(g, r, s->names, session, (uint32_t)env, where);
}

int
summary_add(struct summary *s, const struct json *rec, const char *where)
{
	struct run_record r;

	return run_record_convert(s->reader, &r, rec, where) < 0
	    ? -1
	    : add_record(s, &r, where);
}

int
summary_line(struct summary *s, struct jsonl *in, const char **text, size_t *n)
{
	struct run_record r;
	int rc;

	while ((rc = jsonl_text(in, text, n)) > 0) {
		if (!run_record_read(s->reader, &r, *text, *n))
			return 1;
		if (add_record(s, &r, jsonl_where(in)) < 0)
			return -1;
	}
	return rc;
}

int
summary_next(struct summary *s, struct jsonl *in, struct json **rec)
{
	struct run_record r;
	int rc;

	while ((rc = run_record_next(s->reader, in, &r, rec)) > 0 && !*rec)
		if (add_record(s, &r, jsonl_where(in)) < 0)
			return -1;
	return rc;
}

/* Compares by version from the first number that differs: 64 comes before 4096.
 * Skipping the common part saves time on long texts. */
static int
compare_texts(const char *s, const char *t)
{
	size_t i = 0;

	while (s[i] && s[i] == t[i])
		i++;
	while (i && isdigit((unsigned char)s[i - 1]))
		i--;
	return strverscmp(s + i, t + i);
}

static int
compare_groups(const void *a, const void *b, void *arg)
{
	const struct group *const *x = a, *const *y = b;
	const struct summary *s = arg;

	return (*x)->config != (*y)->config
	    ? compare_texts(caseset_text(s->common.configs, (*x)->config),
		  caseset_text(s->common.configs, (*y)->config))
	    : compare_texts(caseset_text(s->common.subjects, (*x)->subject),
		  caseset_text(s->common.subjects, (*y)->subject));
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
	if (s->n)
		qsort_r(s->groups, s->n, sizeof *s->groups, compare_groups, s);
	s->common.rank = sessions_order(s->common.sessions);
	hashset_free(s->seen);
	s->seen = NULL;
	s->sorted = true;
}

char *
summary_key(struct summary *s, size_t i)
{
	sort_groups(s);
	return mem_printf("%s\n%s",
	    caseset_text(s->common.configs, s->groups[i]->config),
	    caseset_text(s->common.subjects, s->groups[i]->subject));
}

/* Writes to a file, or if fd is -1, to the memory for all records. */
static void
write_record(
    struct summary *s, size_t i, int fd, enum content what, struct given *given)
{
	s->out.fd = fd;
	str_clear(&s->out.s);
	sort_groups(s);
	write_group(&s->out, &s->common, s->groups[i], what, given);
}

int
summary_write(struct summary *s, size_t i, int fd)
{
	write_record(s, i, fd, WHOLE, NULL);
	str_addc(&s->out.s, '\n');
	return sink_flush(&s->out);
}

struct summary_compared
summary_compare(struct summary *s, size_t i, summary_take *take, void *to)
{
	struct given given = {.take = take, .to = to};

	write_record(s, i, -1, WHOLE, &given);
	given.rest.config = s->groups[i]->config;
	given.rest.subject = s->groups[i]->subject;
	given.rest.rest = s->out.s.s;
	if (s->taken)
		group_free(s->taken);
	s->taken = s->groups[i];
	s->groups[i] = NULL;
	return given.rest;
}

struct json *
summary_record(struct summary *s, size_t i, bool brief)
{
	write_record(s, i, -1, brief ? BRIEF : WHOLE, NULL);
	return json_parse(s->out.s.s, s->out.s.len, NULL, NULL);
}
