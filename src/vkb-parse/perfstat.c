/*
 * Parses perf stat -x SEP and perf stat -j. One perf stat is one run. With -r
 * the values are perf's means; with -I the intervals are summed and kept as
 * series; with -A and the like each CPU, core or socket is a case. See CSV
 * FORMAT in perf-stat(1).
 */
#include "err.h"
#include "json.h"
#include "mem.h"
#include "num.h"
#include "str.h"
#include "parsers.h"
#include "runs.h"
#include "source.h"
#include "units.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FIELDS 16
#define SEPARATORS ",;\t|"

struct row {
	double at;         /* s, of -I; NAN without -I */
	const char *where; /* "CPU0", "S0-D0-C1"; "": whole system */
	const char *value, *unit, *event, *after; /* the event */
};

struct counted {
	char *where; /* as in struct row */
	struct json *run;
	struct json *last;   /* EVENT: time of its last interval */
	struct json *events; /* KEY: the event */
};

struct state {
	struct counted *v;
	size_t n, cap;
};

/* Splits in place, but not between the slashes of a hardware counter's name. */
static size_t
split_fields(char *line, char sep, char **f)
{
	size_t n = 0;
	bool inside = false;

	f[n++] = line;
	for (char *p = line; *p; p++) {
		if (*p == '/')
			inside = !inside;
		if (*p != sep || (inside && strchr(p, '/')))
			continue;
		inside = false;
		*p = '\0';
		if (n == FIELDS)
			break;
		f[n++] = p + 1;
	}
	return n;
}

/* In some locales perf writes a decimal comma. */
static bool
parse_perf_number(const char *s, double *v)
{
	char *text = mem_str(s + strspn(s, " ")), *comma = strchr(text, ',');
	int rc;

	if (comma)
		*comma = '.';
	rc = num_real(text, v);
	free(text);
	return rc == 0;
}

static bool
is_counter_value(const char *s)
{
	double v;

	return parse_perf_number(s, &v) || strcmp(s, "<not supported>") == 0 ||
	    strcmp(s, "<not counted>") == 0;
}

/* Finds VALUE, UNIT, EVENT, and time and place before them; false if none. */
static bool
parse_perf_row(struct row *r, char **f, size_t n)
{
	double v;
	size_t e;

	for (e = 2; e < n && e < 6; e++)
		if (is_counter_value(f[e - 2]) && !is_counter_value(f[e - 1]) &&
		    *f[e] && !is_counter_value(f[e]))
			break;
	if (e >= n || e == 6 || n < e + 3)
		return false;
	*r = (struct row){.at = NAN,
	    .where = "",
	    .value = f[e - 2],
	    .unit = f[e - 1],
	    .event = f[e],
	    .after = f[e + 1]};
	for (size_t i = 0; i + 2 < e; i++) {
		if (i == 0 && parse_perf_number(f[0], &v)) {
			if (!strpbrk(f[0], ".,"))
				return false; /* "1,5": a decimal comma */
			r->at = v;
		} else if (!is_counter_value(f[i]) && !*r->where)
			r->where = f[i] + strspn(f[i], " ");
	}
	return true;
}

/*
 * Parses a line of -j, which is JSON but for decimal commas: these have a digit
 * on both sides, and the values are texts. Returns NULL if it is not one;
 * caller frees it after 'r'.
 */
static struct json *
parse_perf_json(struct row *r, const char *line)
{
	static const char *const places[] = {"cpu", "core", "cache", "cluster",
	    "die", "socket", "node", "thread", "cgroup"};
	char *text = mem_strn(line, strcspn(line, "\r\n"));
	struct str where = {0};
	struct json *j;

	for (char *p = text; (p = strchr(p, ',')); p++)
		if (p > text && isdigit((unsigned char)p[-1]) &&
		    isdigit((unsigned char)p[1]))
			*p = '.';
	j = *text == '{' ? json_parse(text, strlen(text), NULL, NULL) : NULL;
	free(text);
	*r = (struct row){.at = json_get_num(j, "interval", NAN),
	    .where = "",
	    .value = json_get_str(j, "counter-value"),
	    .unit = json_get_str(j, "unit"),
	    .event = json_get_str(j, "event"),
	    .after = ""};
	for (size_t i = 0; i < sizeof places / sizeof *places; i++)
		if (json_get_str(j, places[i]))
			str_printf(&where, "%s%s", where.len ? " " : "",
			    json_get_str(j, places[i]));
	if (where.len) {
		json_set_str(j, "where", where.s); /* lives as long as 'r' */
		r->where = json_get_str(j, "where");
	}
	str_free(&where);
	if (json_get(j, "counter-value")
		? r->value && is_counter_value(r->value) && r->unit && r->event
		: json_get(j, "metric-value") != NULL)
		return j;
	json_free(j);
	return NULL;
}

/* Is it a percentage as perf prints it, "100.00"? */
static bool
is_percentage(const char *s)
{
	double v;
	size_t n = strlen(s);

	return n > 3 && strchr(".,", s[n - 3]) && parse_perf_number(s, &v);
}

/* The time that the event was counted, and the percentage of all time, are
 * behind the event, or behind the variance of -r. */
static bool
has_run_time(char **f, size_t n, const char *after)
{
	double v;

	for (size_t i = 0; i + 1 < n; i++)
		if (f[i] == after)
			return parse_perf_number(f[i], &v)
			    ? is_percentage(f[i + 1])
			    : str_ends(f[i], "%");
	return false;
}

/* Checks the first line that is not a comment. */
bool
perfstat_is(const char *head)
{
	char *f[FIELDS], *line;
	struct row r;
	struct json *j;
	size_t n;
	bool is;

	while (*head == '#' || *head == '\n' || *head == '\r') {
		head = strchr(head, '\n');
		if (!head)
			return false;
		head++;
	}
	j = parse_perf_json(&r, head);
	json_free(j);
	if (j || *head == '{')
		return j != NULL;
	line = mem_strn(head, strcspn(head, "\r\n"));
	n = split_fields(line, source_find_separator(line, SEPARATORS), f);
	is = parse_perf_row(&r, f, n) && !strpbrk(r.unit, "0123456789") &&
	    has_run_time(f, n, r.after);
	free(line);
	return is;
}

static struct counted *
find_counted(struct state *st, const char *where)
{
	for (size_t i = 0; i < st->n; i++)
		if (strcmp(where, st->v[i].where) == 0)
			return &st->v[i];
	st->v = mem_grow(st->v, st->n, &st->cap, sizeof *st->v);
	st->v[st->n] = (struct counted){.where = mem_str(where),
	    .run = runs_new_run(NULL),
	    .last = json_object(),
	    .events = json_object()};
	if (*where)
		json_set_str(
		    json_get(st->v[st->n].run, "config"), "counted_on", where);
	return &st->v[st->n++];
}

/* Drops the series of counters that were not counted in every interval. */
static void
drop_partial_series(struct json *run)
{
	struct json *series = json_get(run, "series"), *j, *next;
	size_t n = json_len(json_get(series, "at_s"));

	for (j = json_first(series); j; j = next) {
		next = json_next(j);
		if (json_len(j) != n)
			json_del(series, json_key(j));
	}
}

static int
write_counted_runs(struct state *st, struct source *s, struct runs *runs)
{
	int rc = 0;

	for (size_t i = 0; i < st->n; i++) {
		drop_partial_series(st->v[i].run);
		rc |= runs_add(runs, st->v[i].run, source_where(s));
		json_free(st->v[i].last);
		json_free(st->v[i].events);
		free(st->v[i].where);
	}
	st->n = 0;
	return rc;
}

static void
add_interval(struct json *run, const char *key, double at, double v)
{
	struct json *series = json_get(run, "series"), *times;
	double last;

	if (!series) {
		json_set(run, "series", json_object());
		series = json_get(run, "series");
		json_set(series, "at_s", json_array());
	}
	times = json_get(series, "at_s");
	last = json_num(json_path(run, "metrics.elapsed_s"), NAN);
	if (!(last == at))
		json_push_num(times, at);
	json_set_num(json_get(run, "metrics"), "elapsed_s", at);
	if (!json_get(series, key))
		json_set(series, key, json_array());
	json_push_num(json_get(series, key), v);
}

static int
count_event(
    struct state *st, struct source *s, const struct row *r, struct runs *runs)
{
	struct counted *c = find_counted(st, r->where);
	struct json *m;
	double v, factor, before;
	const char *event;
	char *key;
	int rc = 0;

	before = json_get_num(c->last, r->event, NAN);
	/* counted already: here another perf stat begins in the same file */
	if (json_get(c->last, r->event) && !(r->at > before)) {
		rc = write_counted_runs(st, s, runs);
		c = find_counted(st, r->where);
	}
	json_set_num(c->last, r->event, isnan(r->at) ? 0 : r->at);
	if (!parse_perf_number(r->value, &v))
		return rc; /* "<not supported>" or "<not counted>" */
	key = units_key(r->event, r->unit, &factor);
	v *= factor;
	m = json_get(c->run, "metrics");
	event = json_get_str(c->events, key);
	if (event && strcmp(event, r->event) != 0) {
		rc = source_fail(s, "'%s': another value has the same key '%s'",
		    r->event, key);
	} else {
		json_set_str(c->events, key, r->event);
		if (!isnan(r->at))
			add_interval(c->run, key, r->at, v);
		json_set_num(m, key, json_get_num(m, key, 0) + v);
	}
	free(key);
	return rc;
}

/* "Additional metrics may be printed with all earlier fields being empty." */
static bool
is_metric_line(char **f, size_t n)
{
	double v;
	size_t i = 0;

	if (n && parse_perf_number(f[0], &v))
		i++;
	if (i < n && *f[i] && !is_counter_value(f[i]))
		i += 2;
	return i + 3 < n && !*f[i] && !*f[i + 1] && !*f[i + 2];
}

static int
parse_perf_line(struct state *st, struct source *s, char *line, char *sep,
    struct runs *runs)
{
	char *f[FIELDS];
	struct json *j;
	struct row r;
	size_t n;
	int rc = 0;

	if (!line[strspn(line, " \t")])
		return 0;
	if (*line == '#')
		return str_starts(line, "# started on")
		    ? write_counted_runs(st, s, runs)
		    : 0;
	j = parse_perf_json(&r, line);
	if (j) {
		if (r.value)
			rc = count_event(st, s, &r, runs);
		json_free(j);
		return rc;
	}
	if (*line == '{')
		return source_fail(s, "not a line of perf stat: '%s'", line);
	if (!*sep)
		*sep = source_find_separator(line, SEPARATORS);
	n = split_fields(line, *sep, f);
	if (parse_perf_row(&r, f, n))
		return count_event(st, s, &r, runs);
	if (is_metric_line(f, n))
		return 0;
	return source_fail(s,
	    "not a line of perf stat: '%s'; with decimal commas use LC_ALL=C, "
	    "or -x\\;",
	    f[0]);
}

int
perfstat_parse_text(struct source *s, struct runs *runs)
{
	struct state st = {0};
	char *line, sep = '\0';
	int rc = 0, got;

	while ((got = source_read_line(s, &line, NULL)) != 0 &&
	    !runs_have_failed(runs))
		if (got < 0 || parse_perf_line(&st, s, line, &sep, runs) < 0)
			rc = -1;
	if (write_counted_runs(&st, s, runs) < 0)
		rc = -1;
	free(st.v);
	return rc;
}
