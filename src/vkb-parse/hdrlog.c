/*
 * Parses HdrHistogram interval logs: [Tag=NAME,]START,LENGTH,MAX,HISTOGRAM. The
 * intervals of one tag are one run: its histogram is their sum, its series has
 * an entry for each. Values are in ns, as the format requires; memtier's are in
 * us, and have the end of an interval in place of its length.
 */
#include "err.h"
#include "hist.h"
#include "histcodec.h"
#include "json.h"
#include "mem.h"
#include "intern.h"
#include "metric.h"
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
	double first, length; /* begin, and sum of the intervals, in s */
	char *where;          /* FILE:LINE of its first interval */
};

struct log {
	struct intern *names;
	struct tag *tags;
	size_t n, cap;
	double start;      /* s since 1970; NAN: unknown */
	bool from_memtier; /* "EndTimestamp" */
	char command[64];  /* of memtier's heading, or "" */
};

bool
hdrlog_is(const char *head)
{
	const char *p = head;

	while (p && *p) {
		if (str_starts(p, "#[Histogram log format") ||
		    str_starts(p, "\"StartTimestamp\",\""))
			return true;
		if (*p != '#')
			break;
		p = strchr(p, '\n');
		if (p)
			p++;
	}
	/* a log without a header has a fourth field that begins so */
	p = p ? strstr(p, ",HIST") : NULL;
	return p && !memchr(head, '{', (size_t)(p - head));
}

static struct tag *
find_tag(struct log *l, const char *name, const char *where)
{
	size_t id = intern_id(l->names, name);

	if (id < l->n)
		return &l->tags[id];
	l->tags = mem_grow(l->tags, l->n, &l->cap, sizeof *l->tags);
	l->tags[l->n] = (struct tag){
	    .series = json_object(), .first = NAN, .where = mem_str(where)};
	return &l->tags[l->n++];
}

/* Takes over 'h'. The sum gets the wider range and the higher precision. */
static void
merge_histogram(struct tag *t, struct hist *h)
{
	struct hist *sum = t->sum;
	int64_t low = hist_lowest(h), high = hist_highest(h);
	int digits = hist_digits(h);

	if (!sum) {
		t->sum = h;
		return;
	}
	low = low < hist_lowest(sum) ? low : hist_lowest(sum);
	high = high > hist_highest(sum) ? high : hist_highest(sum);
	digits = digits > hist_digits(sum) ? digits : hist_digits(sum);
	if (low != hist_lowest(sum) || high != hist_highest(sum) ||
	    digits != hist_digits(sum)) {
		t->sum = hist_new(low, high, digits);
		hist_merge(t->sum, sum);
		hist_free(sum);
	}
	hist_merge(t->sum, h);
	hist_free(h);
}

static void
push_series_value(struct tag *t, const char *name, double v)
{
	if (!json_get(t->series, name))
		json_set(t->series, name, json_array());
	json_push_num(json_get(t->series, name), v);
}

/* Adds the interval's length, and an entry unless the histogram is empty. */
static void
add_interval(struct tag *t, const struct hist *h, double start, double length,
    double unit_ms)
{
	if (isnan(t->first))
		t->first = start;
	t->length += length;
	if (!hist_count(h))
		return;
	push_series_value(t, "at_s", start + length - t->first);
	push_series_value(t, "samples", (double)hist_count(h));
	push_series_value(
	    t, "p50_latency_ms", (double)hist_quantile(h, .5) * unit_ms);
	push_series_value(
	    t, "p99_latency_ms", (double)hist_quantile(h, .99) * unit_ms);
	push_series_value(t, "max_latency_ms", (double)hist_max(h) * unit_ms);
}

static int
parse_interval_line(struct log *l, struct source *s, char *line)
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
			return source_fail(s, "no fields follow the tag");
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
	if (l->from_memtier)
		v[1] -= v[0];
	if (v[1] < 0)
		return source_fail(s, "%s '%s', %s",
		    l->from_memtier ? "'EndTimestamp' is"
				    : "'Interval_Length' is",
		    field[1], l->from_memtier ? "before the start" : "below 0");
	h = histcodec_decode(field[3], strlen(field[3]), &why);
	if (!h)
		return source_fail(s, "the histogram cannot be read: %s", why);
	add_interval(find_tag(l, tag, source_where(s)), h, v[0], v[1],
	    l->from_memtier ? 1e-3 : 1e-6);
	merge_histogram(find_tag(l, tag, ""), h);
	return 0;
}

/* Writes the run of a tag; the run takes over its series. */
static int
write_tag_run(struct log *l, struct tag *t, const char *name, struct runs *runs)
{
	struct json *run = runs_new_run(NULL), *m = json_get(run, "metrics");
	struct str text = {0};

	json_set_str(json_get(run, "config"), "command",
	    *l->command ? l->command : NULL);
	if (*name)
		json_set_str(json_get(run, "config"), "tag", name);
	runs_set_started(run, l->start);
	if (hist_count(t->sum)) {
		metric_set_times(m, "latency_ns", t->sum);
		for (const struct metric *k = metric_table;
		     l->from_memtier && k->name; k++)
			if (json_get(m, k->name))
				json_set_num(m, k->name,
				    json_get_num(m, k->name, 0) * 1e3);
		json_set_num(m, "samples", (double)hist_count(t->sum));
		json_set_num(m, "elapsed_s", t->length);
		histcodec_encode(&text, t->sum);
		json_set(run, "hist", json_object());
		json_set_str(json_get(run, "hist"),
		    l->from_memtier ? "latency_us" : "latency_ns", text.s);
		str_free(&text);
		json_set(run, "series", t->series);
		t->series = NULL;
	}
	return runs_add(runs, run, t->where);
}

static void
free_log(struct log *l)
{
	for (size_t i = 0; i < l->n; i++) {
		hist_free(l->tags[i].sum);
		json_free(l->tags[i].series);
		free(l->tags[i].where);
	}
	free(l->tags);
	intern_free(l->names);
}

int
hdrlog_parse_text(struct source *s, struct runs *runs)
{
	struct log l = {.names = intern_new(), .start = NAN};
	char *line;
	int rc = 0, got;

	while ((got = source_read_line(s, &line, NULL)) != 0) {
		if (got < 0)
			rc = -1;
		else if (*line == '#') {
			sscanf(line, "#[StartTime: %lf", &l.start);
			if (strstr(line, " command HDR "))
				sscanf(line, "#[%63[A-Z]", l.command);
		} else if (str_starts(line, "\"StartTimestamp\""))
			l.from_memtier = strstr(line, "\"EndTimestamp\"");
		else if (*line && *line != '"' &&
		    parse_interval_line(&l, s, line) < 0)
			rc = -1;
	}
	for (size_t i = 0; i < l.n; i++)
		rc |= write_tag_run(
		    &l, &l.tags[i], intern_text(l.names, i), runs);
	free_log(&l);
	return rc;
}
