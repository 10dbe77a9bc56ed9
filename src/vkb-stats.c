/*
 * vkb-stats: makes summary records of run records, also of those of which each
 * part was measured by another vkb-load. Summaries and records of other types
 * are copied; --text writes a table for people instead, --join the runs.
 */
#include "casename.h"
#include "err.h"
#include "json.h"
#include "jsonl.h"
#include "mem.h"
#include "metric.h"
#include "num.h"
#include "opt.h"
#include "output.h"
#include "parts.h"
#include "record.h"
#include "str.h"
#include "summary.h"
#include "table.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BUSY 10 /* percent of all CPUs used by other processes */
#define FAR 10  /* modified z of an outlier that noise does not explain */

struct opts {
	const char *precision;
	bool text, join;
};

static const struct opt option_table[] = {
    {'p', "precision", OPT_STR, offsetof(struct opts, precision), "N%",
	.help = "tell how many more runs make the median this precise"},
    {'j', "join", OPT_FLAG, offsetof(struct opts, join),
	.help = "join the parts of runs, and copy all other records"},
    {'t', "text", OPT_FLAG, offsetof(struct opts, text),
	.help = "write a table for people instead of records"},
    {0}};

static const struct opt_prog program = {.name = "vkb-stats",
    .operands = "[FILE ...]",
    .purpose = "Summarise repetitions: run records in, summary records out.",
    .table = option_table};

/* A summary with its sort key, in the order of summary.h. */
struct line {
	char *key;
	struct json *rec;
};

struct lines {
	struct line *v;
	size_t n, cap;
};

static int
compare_lines(const void *a, const void *b)
{
	const struct line *x = a, *y = b;
	int c = strverscmp(x->key, y->key); /* 64 before 4096 */
	char *s, *t;

	if (c)
		return c;
	s = json_print(x->rec);
	t = json_print(y->rec);
	c = strcmp(s, t);
	free(s);
	free(t);
	return c;
}

/* Takes 'rec'. */
static void
keep_summary(struct lines *l, struct json *rec)
{
	struct str key = {0};

	json_canonical(&key, json_get(rec, "config"));
	str_addc(&key, '\n');
	json_canonical(&key, json_get(rec, "subject"));
	*MEM_ADD(l->v, l->n, l->cap) = (struct line){str_take(&key), rec};
}

static void
free_lines(struct lines *l)
{
	for (size_t i = 0; i < l->n; i++) {
		free(l->v[i].key);
		json_free(l->v[i].rec);
	}
	free(l->v);
	*l = (struct lines){0};
}

/* Removes what a table does not need. */
static void
strip_values(struct json *rec)
{
	struct json *m = json_first(json_get(rec, "metrics"));

	for (; m; m = json_next(m)) {
		json_del(m, "values");
		json_del(m, "blocks");
		json_del(m, "sessions");
	}
	json_del(rec, "hist");
	json_del(rec, "quantiles");
}

/* Adds a run that was joined to the summary, or writes it if that is NULL. */
static int
take_joined(struct summary *s, struct json *run)
{
	int rc = 0;

	if (run && s)
		rc = summary_add(s, run, "a run of parts");
	else if (run)
		rc = jsonl_write(STDOUT_FILENO, run);
	json_free(run);
	return rc;
}

/* The same with the runs of which parts are missing. */
static int
take_incomplete(struct summary *s, struct parts *p)
{
	struct json *run;
	int rc = 0;

	while (rc == 0 && (run = parts_next_incomplete(p))) {
		err_say("a run is failed: %s", json_get_str(run, "error"));
		rc = take_joined(s, run);
	}
	return rc;
}

/* Copies all records but parts, of which it makes runs. Returns 0 or -1. */
static int
join_records(struct jsonl *in)
{
	struct parts *p = parts_new();
	struct json *rec;
	int rc = 0, got, k = 0;

	while (k == 0 && (got = record_next(in, &rec)) != 0) {
		if (got < 0)
			rc = -1;
		else if (record_is(rec, "part"))
			k = take_joined(NULL, parts_add(p, rec));
		else
			k = take_joined(NULL, rec);
	}
	if (k == 0)
		k = take_incomplete(NULL, p);
	parts_free(p);
	return k < 0 ? -1 : rc;
}

/* Returns -1, after reporting it, if something could not be read or written. */
static int
collect_records(struct jsonl *in, struct summary *s, struct lines *l,
    struct parts *p, bool text)
{
	struct json *rec;
	int rc = 0, got;

	while ((got = summary_next(s, in, &rec)) != 0) {
		if (got < 0) {
			rc = -1;
			continue;
		}
		if (record_is(rec, "part")) {
			if (take_joined(s, parts_add(p, rec)) < 0)
				rc = -1;
			continue;
		}
		if (record_is(rec, "summary")) {
			if (text)
				strip_values(rec);
			keep_summary(l, rec);
			continue;
		}
		if (!text && jsonl_write(STDOUT_FILENO, rec) < 0) {
			json_free(rec);
			return -1;
		}
		json_free(rec);
	}
	return take_incomplete(s, p) < 0 ? -1 : rc;
}

/* Returns 's', ready for another note. */
static struct str *
begin_note(struct str *s)
{
	if (s->len)
		str_add(s, ", ");
	return s;
}

/* Adds notes on trends of the throughput, over the runs and within them. */
static void
add_trend_notes(struct str *s, const struct json *rec)
{
	const struct json *m = json_path(rec, "metrics.rps");
	const struct json *steady = json_get(rec, "steady");
	double drifting = json_get_num(steady, "drifting", 0);
	double warmup = json_get_num(steady, "warmup_s", 0);
	double more = json_num(json_path(m, "precision.runs"), NAN);

	if (json_get(m, "drifting"))
		str_printf(begin_note(s), "drifts %+.1f%% over a session",
		    json_get_num(m, "drift_percent", 0));
	if (drifting > 0)
		str_printf(begin_note(s), "%.0f not steady", drifting);
	if (warmup > 0)
		str_printf(begin_note(s), "warm-up %.0f s", warmup);
	if (more > 0)
		str_printf(begin_note(s), "%.0f more run%s for %.3g%%", more,
		    num_plural(more),
		    100 * json_num(json_path(m, "precision.wanted"), 0));
	if (json_get_str(m, "advice"))
		str_add(begin_note(s), json_get_str(m, "advice"));
}

static bool
has_far_outlier(const struct json *outliers)
{
	const struct json *o = json_first(outliers);

	for (; o; o = json_next(o))
		if (json_get_num(o, "z", 0) > FAR)
			return true;
	return false;
}

/* Returns the summary of the metric that the record is about, with its name, or
 * NULL: capacity or throughput; else, of another program, the first that is
 * judged by default, or the first by name. */
static const struct json *
get_main(const struct json *rec)
{
	const struct json *metrics = json_get(rec, "metrics");
	const struct json *m = json_get(metrics, "capacity_rps");

	m = m ? m : json_get(metrics, "rps");
	for (const struct json *j = json_first(metrics); j && !m;
	     j = json_next(j))
		if (metric_guess(json_key(j)).gate)
			m = j;
	return m ? m : json_first(metrics);
}

static char *
make_notes(const struct json *rec)
{
	const struct json *outliers = json_get(get_main(rec), "outliers");
	const struct json *bound = json_get(rec, "bound");
	double failed = json_get_num(rec, "failed", 0);
	struct str s = {0};
	bool groups = json_get(get_main(rec), "bimodal") != NULL;

	if (failed > 0)
		str_printf(&s, "%.0f failed", failed);
	if (json_path(rec, "metrics.capacity_rps"))
		str_add(begin_note(&s), "capacity");
	if (json_get(rec, "doubled"))
		str_printf(begin_note(&s), "%.0f doubled",
		    json_get_num(rec, "doubled", 0));
	if (json_num(json_path(rec, "metrics.achieved_percent.median"), 100) <
	    METRIC_REACHED_PERCENT)
		str_printf(begin_note(&s), "rate not reached: %.3g%%",
		    json_num(
			json_path(rec, "metrics.achieved_percent.median"), 0));
	if (json_get_num(bound, "client", 0) > 0)
		str_add(begin_note(&s), "client-bound");
	if (json_num(json_path(rec, "metrics.foreign_cpu_percent.median"), 0) >
	    BUSY)
		str_add(begin_note(&s), "machine was busy");
	if (outliers)
		str_printf(begin_note(&s), "%zu outlier%s%s",
		    json_len(outliers), num_plural(json_len(outliers)),
		    !groups && has_far_outlier(outliers) ? ": check the machine"
							 : "");
	if (json_get(rec, "env_varied"))
		str_add(begin_note(&s), "environment varied");
	if (groups)
		str_add(begin_note(&s), "two groups of runs");
	add_trend_notes(&s, rec);
	return str_take(&s);
}

static void
add_median_cell(struct table *t, const struct json *m, const char *unit)
{
	double v = json_get_num(m, "median", NAN);
	char buf[NUM_BUF];

	table_cell(t, isnan(v) ? "-" : num_amount(buf, v, unit));
}

/* Writes the title of the column of values, which throughput and capacity
 * share.
 */
static void
write_title(struct str *s, const struct lines *l)
{
	const char *name = NULL;

	for (size_t i = 0; i < l->n; i++) {
		const struct json *m = get_main(l->v[i].rec);
		const char *own = m ? json_key(m) : "rps";

		own = strcmp(own, "capacity_rps") == 0 ? "rps" : own;
		name = !name || strcmp(name, own) == 0 ? own : "value";
	}
	if (name && strcmp(name, "rps") != 0)
		metric_write_label(s, name);
	else
		str_add(s, "rps");
}

/* The columns of latencies behind that of the main value. */
static const struct {
	const char *name, *title;
} latencies[] = {{"p50_latency_ms", "p50 ms"}, {"p99_latency_ms", "p99 ms"}};
#define LATENCIES (sizeof latencies / sizeof *latencies)

/* Has a case this metric, and another one as its main value? */
static bool
has_beside_main(const struct lines *l, const char *name)
{
	for (size_t i = 0; i < l->n; i++) {
		const struct json *main = get_main(l->v[i].rec);

		if (json_get(json_get(l->v[i].rec, "metrics"), name) &&
		    !(main && strcmp(json_key(main), name) == 0))
			return true;
	}
	return false;
}

static void
add_spread_cells(struct table *t, const struct json *m, const char *unit)
{
	const struct json *ci = json_get(m, "ci95");
	double cv = json_get_num(m, "cv_percent", NAN);
	char a[NUM_BUF], b[NUM_BUF], text[2 * NUM_BUF + 8] = "-";

	if (ci)
		snprintf(text, sizeof text, "[%s, %s]",
		    num_amount(a, json_num(json_at(ci, 0), NAN), unit),
		    num_amount(b, json_num(json_at(ci, 1), NAN), unit));
	table_cell(t, text);
	snprintf(text, sizeof text, isnan(cv) ? "-" : "%.1f%%", cv);
	table_cell(t, text);
}

static int
print_table(const struct lines *l)
{
	const struct json **configs = mem_array(l->n + 1, sizeof *configs);
	const struct json **ok = mem_array(l->n + 1, sizeof *ok);
	size_t nok = 0;
	struct table *t = table_new();
	bool shown[LATENCIES];
	struct casename *names;
	struct str out = {0}, title = {0};
	char *text;
	int rc;

	for (size_t i = 0; i < l->n; i++) {
		configs[i] = json_get(l->v[i].rec, "config");
		if (json_get_num(l->v[i].rec, "n", 0) > 0)
			ok[nok++] = configs[i];
	}
	names = casename_new(ok, nok);
	for (size_t i = 0; i < l->n; i++)
		if (!(json_get_num(l->v[i].rec, "n", 0) > 0))
			casename_differs(names, configs[i]);
	table_titles(t, "case|subject|>n");
	write_title(&title, l);
	table_column(t, title.s, TABLE_RIGHT);
	table_titles(t, "95% interval|>cv");
	for (size_t k = 0; k < LATENCIES; k++) {
		shown[k] = has_beside_main(l, latencies[k].name);
		if (shown[k])
			table_column(t, latencies[k].title, TABLE_RIGHT);
	}
	table_column(t, "notes", TABLE_LEFT);
	for (size_t i = 0; i < l->n; i++) {
		const struct json *rec = l->v[i].rec;
		const struct json *m = json_get(rec, "metrics");
		const struct json *main = get_main(rec);
		const char *unit;

		table_take(t, casename_of(names, configs[i]));
		table_take(t, record_subject_name(json_get(rec, "subject")));
		table_take(t,
		    mem_printf("%.0f",
			fmin(json_get_num(rec, "n", 0),
			    json_get_num(main, "n", INFINITY))));
		unit = main ? metric_guess(json_key(main)).unit : "";
		add_median_cell(t, main, unit);
		add_spread_cells(t, main, unit);
		for (size_t k = 0; k < LATENCIES; k++)
			if (shown[k])
				add_median_cell(
				    t, json_get(m, latencies[k].name), "");
		table_take(t, make_notes(rec));
	}
	table_print(t, &out, false);
	text = casename_common(names);
	if (l->n && *text) {
		str_add(&out, "all cases: ");
		str_visible(&out, text);
		str_addc(&out, '\n');
	}
	rc = output_write(&(struct output){0}, &out);
	free(text);
	str_free(&out);
	str_free(&title);
	table_free(t);
	casename_free(names);
	free(configs);
	free(ok);
	return rc;
}

static int
finish_table(struct summary *s, struct lines *l)
{
	for (size_t i = 0; i < summary_count(s); i++)
		keep_summary(l, summary_record(s, i, true));
	mem_sort(l->v, l->n, sizeof *l->v, compare_lines);
	return print_table(l);
}

/* Does the line come before summary 'i'? */
static bool
is_before(const struct line *x, struct summary *s, size_t i)
{
	char *key = summary_key(s, i);
	struct line y = {key, NULL};
	int c = strverscmp(x->key, key);

	if (c == 0) {
		y.rec = summary_record(s, i, false);
		c = compare_lines(x, &y);
		json_free(y.rec);
	}
	free(key);
	return c <= 0;
}

/* Writes copied and new summaries in one order, one record at a time. */
static int
finish_records(struct summary *s, struct lines *l)
{
	size_t at = 0;
	int rc = 0;

	mem_sort(l->v, l->n, sizeof *l->v, compare_lines);
	for (size_t i = 0; i < summary_count(s) && rc == 0; i++) {
		while (rc == 0 && at < l->n && is_before(&l->v[at], s, i))
			rc = jsonl_write(STDOUT_FILENO, l->v[at++].rec);
		if (rc == 0)
			rc = summary_write(s, i, STDOUT_FILENO);
	}
	while (rc == 0 && at < l->n)
		rc = jsonl_write(STDOUT_FILENO, l->v[at++].rec);
	return rc;
}

static int
run_stats(void *opts, struct opt_args *args)
{
	const struct opts *o = opts;
	struct summary *s;
	struct parts *parts;
	struct lines l = {0};
	struct jsonl *in;
	double wanted = 0;
	int rc;

	if (!args->n && opt_stdin(&program) < 0)
		return -1;
	if (o->precision &&
	    (num_percent(o->precision, &wanted) < 0 || !(wanted > 0)))
		return err_fail(
		    "option '--precision': '%s' is not a percentage above 0, "
		    "as 1%%",
		    o->precision);
	if (o->join && (o->text || o->precision))
		return opt_usage(&program,
		    "'--join' makes no summaries: "
		    "'--text' and '--precision' do not "
		    "go with it");
	in = jsonl_open((const char *const *)args->v, args->n);
	if (o->join) {
		rc = join_records(in);
		if (rc == 0)
			rc = jsonl_check_some(in);
		jsonl_close(in);
		return rc;
	}
	parts = parts_new();
	s = summary_new(NULL, NULL);
	summary_set_precision(s, wanted);
	rc = collect_records(in, s, &l, parts, o->text);
	if (rc == 0)
		rc = jsonl_check_some(in);
	parts_free(parts);
	if ((o->text ? finish_table : finish_records)(s, &l) < 0)
		rc = -1;
	free_lines(&l);
	summary_free(s);
	jsonl_close(in);
	return rc;
}

int
main(int argc, char **argv)
{
	struct opts o = {0};

	return opt_main(&program, argc, argv, &o, run_stats);
}
