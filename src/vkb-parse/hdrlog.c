/*
 * HdrHistogram interval logs: [Tag=NAME,]START,LENGTH,MAX,HISTOGRAM. The
 * intervals of one tag are one run: its histogram is their sum, its series has
 * an entry for each. Values are in ns, as the format wants.
 */
#include "err.h"
#include "hist.h"
#include "histcodec.h"
#include "json.h"
#include "mem.h"
#include "names.h"
#include "num.h"
#include "str.h"
#include "parsers.h"
#include "runs.h"
#include "source.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct tag {
	struct hist *sum;
	struct json *series;
	double first, length; /* s */
	char *where;
};

struct log {
	struct names *names;
	struct tag *tags;
	size_t n, cap;
	double start; /* s since 1970; NAN: not said */
};

bool
hdrlog_is(const char *head)
{
	const char *p = head;

	while (p && *p) {
		if (str_starts(p, "#[Histogram log format") ||
		    str_starts(p, "\"StartTimestamp\",\"Interval_Length\""))
			return true;
		if (*p != '#')
			break;
		p = strchr(p, '\n');
		if (p)
			p++;
	}
	/* without its head: a fourth field of this kind */
	p = p ? strstr(p, ",HIST") : NULL;
	return p && !memchr(head, '{', (size_t)(p - head));
}

static struct tag *
tag_of(struct log *l, const char *name, const char *where)
{
	size_t id = names_id(l->names, name);

	if (id < l->n)
		return &l->tags[id];
	l->tags = mem_grow(l->tags, l->n, &l->cap, sizeof *l->tags);
	l->tags[l->n] = (struct tag){
	    .series = json_object(), .first = NAN, .where = mem_str(where)};
	return &l->tags[l->n++];
}

/* 'h' is taken. The sum has the finest digits and the widest range. */
static void
merge(struct tag *t, struct hist *h)
{
	int64_t low, high;
	struct hist *wide;
	int digits;

	if (!t->sum) {
		t->sum = h;
		return;
	}
	low = hist_lowest(h) < hist_lowest(t->sum) ? hist_lowest(h)
						   : hist_lowest(t->sum);
	high = hist_highest(h) > hist_highest(t->sum) ? hist_highest(h)
						      : hist_highest(t->sum);
	digits = hist_digits(h) > hist_digits(t->sum) ? hist_digits(h)
						      : hist_digits(t->sum);
	if (low != hist_lowest(t->sum) || high != hist_highest(t->sum) ||
	    digits != hist_digits(t->sum)) {
		wide = hist_new(low, high, digits);
		hist_merge(wide, t->sum);
		hist_free(t->sum);
		t->sum = wide;
	}
	hist_merge(t->sum, h);
	hist_free(h);
}

static void
entry(struct tag *t, const char *name, double v)
{
	if (!json_get(t->series, name))
		json_set(t->series, name, json_array());
	json_push_num(json_get(t->series, name), v);
}

/* Intervals in which nothing happened have no percentiles: no entry at all. */
static void
interval(struct tag *t, const struct hist *h, double start, double length)
{
	if (isnan(t->first))
		t->first = start;
	t->length += length;
	if (!hist_count(h))
		return;
	entry(t, "at_s", start + length - t->first);
	entry(t, "samples", (double)hist_count(h));
	entry(t, "p50_latency_ms", (double)hist_quantile(h, .5) / 1e6);
	entry(t, "p99_latency_ms", (double)hist_quantile(h, .99) / 1e6);
	entry(t, "max_latency_ms", (double)hist_max(h) / 1e6);
}

static int
line_of(struct log *l, struct source *s, char *line)
{
	static const char *const names[] = {
	    "StartTimestamp", "Interval_Length", "Interval_Max"};
	const char *tag = "", *why, *field[4];
	double v[3];
	struct hist *h;
	char *rest;
	size_t n = 0;

	if (str_starts(line, "Tag=")) {
		tag = line + 4;
		rest = strchr(line, ',');
		if (!rest)
			return source_fail(s, "nothing follows the tag");
		*rest = '\0';
		line = rest + 1;
	}
	for (char *f = strtok_r(line, ", ", &rest); f && n < 4;
	     f = strtok_r(NULL, ", ", &rest))
		field[n++] = f;
	if (n != 4)
		return source_fail(s, "%zu fields where there should be 4", n);
	for (size_t i = 0; i < 3; i++)
		if (num_real(field[i], &v[i]) < 0)
			return source_fail(s,
			    "'%s' is '%s', which is not a number", names[i],
			    field[i]);
	if (v[1] < 0)
		return source_fail(
		    s, "'Interval_Length' is '%s', below 0", field[1]);
	h = histcodec_decode(field[3], strlen(field[3]), &why);
	if (!h)
		return source_fail(s, "the histogram cannot be read: %s", why);
	interval(tag_of(l, tag, source_where(s)), h, v[0], v[1]);
	merge(tag_of(l, tag, ""), h);
	return 0;
}

static void
latencies(struct json *m, const struct hist *h)
{
	static const struct {
		double q;
		const char *key;
	} wanted[] = {{.5, "p50_latency_ms"}, {.95, "p95_latency_ms"},
	    {.99, "p99_latency_ms"}, {.999, "p999_latency_ms"}};

	for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
		json_set_num(m, wanted[i].key,
		    (double)hist_quantile(h, wanted[i].q) / 1e6);
	json_set_num(m, "avg_latency_ms", hist_mean(h) / 1e6);
	json_set_num(m, "min_latency_ms", (double)hist_min(h) / 1e6);
	json_set_num(m, "max_latency_ms", (double)hist_max(h) / 1e6);
}

/* The series and the histogram of 't' go over into the run. */
static int
finish(struct log *l, struct tag *t, const char *name, struct runs *runs)
{
	struct json *run = runs_blank(), *m = json_get(run, "metrics");
	struct str text = {0};

	if (*name)
		json_set_str(json_get(run, "config"), "tag", name);
	runs_started(run, l->start);
	if (hist_count(t->sum)) {
		latencies(m, t->sum);
		json_set_num(m, "samples", (double)hist_count(t->sum));
		json_set_num(m, "elapsed_s", t->length);
		histcodec_encode(&text, t->sum);
		json_set(run, "hist", json_object());
		json_set_str(json_get(run, "hist"), "latency_ns", text.s);
		str_free(&text);
		json_set(run, "series", t->series);
		t->series = NULL;
	}
	return runs_add(runs, run, t->where);
}

static void
log_free(struct log *l)
{
	for (size_t i = 0; i < l->n; i++) {
		hist_free(l->tags[i].sum);
		json_free(l->tags[i].series);
		free(l->tags[i].where);
	}
	free(l->tags);
	names_free(l->names);
}

int
hdrlog_text(struct source *s, struct runs *runs)
{
	struct log l = {.names = names_new(), .start = NAN};
	char *line;
	int rc = 0, got;

	while ((got = source_line(s, &line)) != 0) {
		if (got < 0)
			rc = -1;
		else if (source_torn(s))
			rc = source_torn_fail(s);
		else if (*line == '#')
			sscanf(line, "#[StartTime: %lf", &l.start);
		else if (*line && *line != '"' && line_of(&l, s, line) < 0)
			rc = -1;
	}
	for (size_t i = 0; i < l.n && !runs_dead(runs); i++)
		rc |= finish(&l, &l.tags[i], names_text(l.names, i), runs);
	log_free(&l);
	return rc;
}
