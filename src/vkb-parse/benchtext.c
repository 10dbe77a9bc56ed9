/*
 * Parses what valkey-benchmark and redis-benchmark print: a report of each
 * test, or with -q one line. They overwrite progress with "\r", so only what
 * follows the last one counts. A run is written when its report has ended.
 */
#include "benchcsv.h"
#include "flat.h"
#include "json.h"
#include "mem.h"
#include "metric.h"
#include "num.h"
#include "str.h"
#include "parsers.h"
#include "runs.h"
#include "source.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PER_SECOND " requests per second"

struct report {
	struct json *run; /* NULL: between reports */
	char *names;      /* line of names above the latencies, or NULL */
	bool summary;     /* a latency summary follows (since Redis 6.2) */
	bool rates;       /* the next line of names is not of latencies */
	char *where;      /* FILE:LINE of its beginning */
};

static bool
is_report_line(const char *line)
{
	/* 14: the two blanks must not be the same one. */
	return strlen(line) >= 14 && str_starts(line, "====== ") &&
	    str_ends(line, " ======");
}

bool
benchtext_is(const char *head)
{
	const char *p = strstr(head, PER_SECOND), *title;

	title = strstr(head, "====== ");
	return (p && strstr(head, ": ")) ||
	    (title && strstr(title, " ======") &&
		strstr(title, " requests completed in "));
}

static struct json *
get_metrics(const struct report *r)
{
	return json_get(r->run, "metrics");
}

/* Sets *v to the number before 'after', which the line has. -1 if invalid. */
static int
parse_number_before(const char *line, const char *after, double *v)
{
	const char *end = strstr(line, after), *p = end;
	char *text;
	int rc;

	while (p > line && p[-1] != ' ')
		p--;
	text = mem_strn(p, (size_t)(end - p));
	rc = num_real(text, v);
	free(text);
	return rc;
}

/* Parses "99.50% <= 1 milliseconds": the first with enough is a quantile. */
static void
parse_percentile(struct report *r, const char *line)
{
	double percent, ms;

	if (sscanf(line, "%lf%% <= %lf milliseconds", &percent, &ms) != 2)
		return;
	for (const struct metric *m = metric_table; m->name; m++)
		if (metric_is_percentile(m, "latency_ns") &&
		    percent + 1e-9 >= 100 * m->quantile &&
		    !json_get(get_metrics(r), m->name))
			json_set_num(get_metrics(r), m->name, ms);
	json_set_num(get_metrics(r), "max_latency_ms", ms);
}

/* Parses the line of latencies below r->names, which it frees. */
static int
parse_latencies(struct report *r, struct source *s, const char *line)
{
	char *names = r->names, *values = mem_str(line), *a, *b, *x, *y;
	char key[64];
	double v;
	int rc = 0;

	r->names = NULL;
	a = strtok_r(names, " ", &x);
	b = strtok_r(values, " ", &y);
	while (a && b) {
		snprintf(key, sizeof key, "%s_latency_ms", a);
		if (num_real(b, &v) < 0)
			rc = source_fail(
			    s, "'%s' is '%s', which is not a number", key, b);
		else
			json_set_num(get_metrics(r), key, v);
		a = strtok_r(NULL, " ", &x);
		b = strtok_r(NULL, " ", &y);
	}
	if (a || b)
		rc = source_fail(
		    s, "the numbers of latencies and of their names differ");
	free(names);
	free(values);
	return rc;
}

static void
parse_setting(struct report *r, const char *line)
{
	struct json *config = json_get(r->run, "config");
	double v, s;
	char word[64], value[64];

	if (sscanf(line, "%lf requests completed in %lf seconds", &v, &s) ==
	    2) {
		json_set_num(get_metrics(r), "requests", v);
		json_set_num(get_metrics(r), "elapsed_s", s);
	} else if (strstr(line, " parallel clients") &&
	    parse_number_before(line, " parallel clients", &v) == 0) {
		json_set_num(config, "clients", v);
	} else if (strstr(line, " bytes payload") &&
	    parse_number_before(line, " bytes payload", &v) == 0) {
		json_set_num(config, "data_size", v);
	} else if (sscanf(line, " keep alive: %lf", &v) == 1) {
		json_set_bool(config, "keep_alive", v != 0);
	} else if (sscanf(line, " threads: %lf", &v) == 1) {
		json_set_num(config, "benchmark_threads", v);
	} else if (sscanf(line, " target RPS: %lf", &v) == 1) {
		json_set_num(config, "rate", v);
	} else if (sscanf(line, " cluster mode: %63s", word) == 1) {
		json_set_bool(config, "cluster_mode", strcmp(word, "yes") == 0);
	} else if (sscanf(line, " host configuration \"%63[a-z]\": %63[^\n]",
		       word, value) == 2) {
		json_set_str(json_get(r->run, "env"), word, value);
	}
}

static void
drop_report(struct report *r)
{
	json_free(r->run);
	free(r->names);
	free(r->where);
	*r = (struct report){0};
}

static int
finish_report(struct report *r, struct runs *runs)
{
	struct json *run = r->run;
	char *where = r->where;
	bool summary = r->summary;
	int rc;

	free(r->names);
	*r = (struct report){0};
	if (!run)
		return 0;
	if (json_path(run, "metrics.rps") &&
	    (!summary || json_path(run, "metrics.p50_latency_ms"))) {
		rc = runs_add(runs, run, where);
	} else {
		rc = err_fail("%s: the report of '%s' ends without a %s", where,
		    json_str(json_path(run, "config.command")),
		    json_path(run, "metrics.rps") ? "latency" : "throughput");
		json_free(run);
	}
	free(where);
	return rc;
}

static int
begin_report(struct report *r, struct source *s, const char *title, size_t n,
    struct runs *runs)
{
	int rc = finish_report(r, runs);
	char *text = mem_strn(title, n), *command = flat_command(text);

	r->run = runs_new_run(command);
	r->where = mem_str(source_where(s));
	free(command);
	free(text);
	return rc;
}

static int
parse_throughput(struct report *r, struct source *s, const char *line)
{
	const char *end = strstr(line, PER_SECOND);
	const char *blank = memrchr(line, ' ', (size_t)(end - line));
	const char *from = blank ? blank + 1 : line;
	double v;

	if (parse_number_before(line, PER_SECOND, &v) < 0)
		return source_fail(s, "'rps' is '%.*s', which is not a number",
		    (int)(end - from), from);
	json_set_num(get_metrics(r), "rps", v);
	return 0;
}

/* Parses "SET: 12345.67 requests per second, p50=0.2 msec". */
static int
parse_quiet_line(
    struct report *r, struct source *s, const char *line, struct runs *runs)
{
	const char *end = strstr(line, PER_SECOND), *colon = end, *p50;
	double v;
	int rc;

	while (colon > line && strncmp(colon, ": ", 2) != 0)
		colon--;
	if (colon == line)
		return source_fail(
		    s, "there is no test name before the throughput");
	rc = begin_report(r, s, line, (size_t)(colon - line), runs);
	if (parse_throughput(r, s, line) < 0) {
		drop_report(r);
		return -1;
	}
	p50 = strstr(end, "p50=");
	if (p50 && sscanf(p50, "p50=%lf msec", &v) == 1)
		json_set_num(get_metrics(r), "p50_latency_ms", v);
	return finish_report(r, runs) < 0 ? -1 : rc;
}

static int
parse_benchtext_line(
    struct report *r, struct source *s, const char *line, struct runs *runs)
{
	const char *last = strrchr(line, '\r');

	line = last ? last + 1 : line;
	if (is_report_line(line))
		return begin_report(r, s, line + 7, strlen(line) - 14, runs);
	if (strstr(line, PER_SECOND)) {
		if (r->run &&
		    (str_starts(line, "  throughput summary: ") ||
			!strstr(line, ": ")))
			return parse_throughput(r, s, line);
		return parse_quiet_line(r, s, line, runs);
	}
	if (!r->run)
		return 0; /* progress, blank lines, other output */
	if (r->names)
		return parse_latencies(r, s, line);
	if (str_starts(line, "Latency by percentile distribution"))
		r->summary = true;
	else if (str_starts(line, "  RPS distribution"))
		r->rates = true;
	else if (strstr(line, " avg ") && strstr(line, " p50 ")) {
		if (!r->rates)
			r->names = mem_str(line);
		r->rates = false;
	} else if (strstr(line, "% <= ")) {
		if (!r->summary)
			parse_percentile(r, line);
	} else
		parse_setting(r, line);
	return 0;
}

int
benchtext_parse_text(struct source *s, struct runs *runs)
{
	struct report r = {0};
	char *line;
	int rc = 0, got;

	while ((got = source_read_line(s, &line, NULL)) != 0 &&
	    !runs_have_failed(runs)) {
		if (got < 0 && source_is_torn(s))
			drop_report(&r);
		if (got < 0 || parse_benchtext_line(&r, s, line, runs) < 0)
			rc = -1;
	}
	return finish_report(&r, runs) < 0 ? -1 : rc;
}

/* --- with --csv: each result is a run */

int
benchtext_parse_csv(struct source *s, struct runs *runs)
{
	const char *title, *why;
	struct json *run, *metrics;
	struct benchcsv *b;
	char *command;
	size_t n;
	int rc = 0, got;

	b = benchcsv_new(source_read_raw_line, s, source_peek(s, 1, &n));
	while (!runs_have_failed(runs) &&
	    (got = benchcsv_next(b, &title, &metrics, &why)) != 0) {
		if (got < 0) {
			rc = why ? source_fail(s, "%s", why) : -1;
			continue;
		}
		command = flat_command(title);
		run = runs_new_run(command);
		free(command);
		json_set(run, "metrics", metrics);
		rc |= runs_add(runs, run, source_where(s));
	}
	benchcsv_free(b);
	return rc;
}
