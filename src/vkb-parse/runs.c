#include "runs.h"
#include "clock.h"
#include "err.h"
#include "flat.h"
#include "json.h"
#include "jsonl.h"
#include "mem.h"
#include "intern.h"
#include "num.h"
#include "record.h"
#include "str.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct set {
	char *section, *key;
	struct json *value;
};

struct runs {
	struct set *sets;
	size_t nsets;
	struct runs_column *columns;
	size_t ncolumns, columns_cap;
	bool flat, whole, dead;
	struct intern *flats;  /* configurations in the flat form */
	struct json **configs; /* the first configuration of each flat form */
	size_t configs_cap;
	bool merged;             /* warn_merged_cases has printed its warning */
	struct intern *cases;    /* config and subject */
	size_t *repeated;        /* number of runs of each case */
	struct intern *subjects; /* subjects without a time */
	char **since;            /* start time of the first run of each */
	size_t since_cap;
	size_t cap, n; /* capacity of 'repeated'; runs written */
};

static bool
is_section(const char *section)
{
	return strcmp(section, "subject") == 0 ||
	    strcmp(section, "config") == 0 || strcmp(section, "run") == 0 ||
	    strcmp(section, "env") == 0;
}

struct json *
runs_parse_value(const char *text)
{
	struct json *j;
	double v;

	if (strcmp(text, "true") == 0 || strcmp(text, "false") == 0)
		return json_boolean(*text == 't');
	if (num_real(text, &v) == 0)
		return json_number(v);
	j = *text == '"' ? json_parse(text, strlen(text), NULL, NULL) : NULL;
	return j ? j : json_string(text);
}

/* Tells whether the key is always a text, even if it looks like a number. */
static bool
is_text_key(const char *section, const char *key)
{
	const struct record_type *t = record_types;
	struct str path = {0};
	bool text = strcmp(section, "subject") == 0;

	str_printf(&path, "%s.%s", section, key);
	while (strcmp(t->name, "run") != 0)
		t++;
	for (const struct record_key *k = t->keys; k->path; k++)
		text |= strcmp(k->path, path.s) == 0 && k->type == JSON_STRING;
	str_free(&path);
	return text;
}

struct json *
runs_parse_typed(const char *section, const char *key, const char *text)
{
	struct json *j = runs_parse_value(text);

	if (!is_text_key(section, key) || json_str(j))
		return j;
	json_free(j);
	return json_string(text);
}

/*
 * Splits [SECTION.]KEY=VALUE of 'n' bytes; without SECTION it is 'fallback'.
 * Returns false if a part is missing. Caller frees *section, *key and *value.
 */
static bool
split_assignment(const char *text, size_t n, const char *fallback,
    char **section, char **key, char **value)
{
	const char *eq = memchr(text, '=', n),
		   *dot = eq ? memchr(text, '.', (size_t)(eq - text)) : NULL;
	const char *from = dot ? dot + 1 : text;

	if (!eq || from == eq || eq + 1 == text + n || (!dot && !fallback))
		return false;
	*section =
	    dot ? mem_strn(text, (size_t)(dot - text)) : mem_str(fallback);
	*key = mem_strn(from, (size_t)(eq - from));
	*value = mem_strn(eq + 1, (size_t)(text + n - eq - 1));
	return true;
}

static int
parse_set(const char *text, struct set *s)
{
	size_t n = strlen(text);
	char *value;

	if (!str_utf8(text, n))
		return err_fail("option '--set': '%s' is not UTF-8", text);
	if (!split_assignment(text, n, NULL, &s->section, &s->key, &value))
		return err_fail(
		    "option '--set': '%s' is not SECTION.KEY=VALUE, "
		    "like subject.label=mine",
		    text);
	s->value = runs_parse_typed(s->section, s->key, value);
	free(value);
	if (is_section(s->section))
		return 0;
	return err_fail("option '--set': '%s' is not one of subject, config, "
			"run, env",
	    s->section);
}

/* Parses one KEY=NAME of 'n' bytes. */
static int
parse_column(struct runs *r, const char *text, size_t n)
{
	struct runs_column c;

	if (!split_assignment(text, n, "metrics", &c.section, &c.key, &c.name))
		return err_fail("option '--columns': '%.*s' is not KEY=COLUMN, "
				"like rps=throughput or config.command=cmd",
		    (int)n, text);
	r->columns = mem_grow(
	    r->columns, r->ncolumns, &r->columns_cap, sizeof *r->columns);
	r->columns[r->ncolumns++] = c;
	if (is_section(c.section) || strcmp(c.section, "metrics") == 0)
		return 0;
	return err_fail("option '--columns': '%s' is not one of subject, "
			"config, run, env, metrics",
	    c.section);
}

static int
parse_columns(struct runs *r, const char *text)
{
	size_t n;

	if (!str_utf8(text, strlen(text)))
		return err_fail("option '--columns': '%s' is not UTF-8", text);
	for (;; text += n + 1) {
		n = strcspn(text, ",");
		if (parse_column(r, text, n) < 0)
			return -1;
		if (!text[n])
			return 0;
	}
}

static void
free_runs(struct runs *r)
{
	for (size_t i = 0; i < r->nsets; i++) {
		free(r->sets[i].section);
		free(r->sets[i].key);
		json_free(r->sets[i].value);
	}
	for (size_t i = 0; i < r->ncolumns; i++) {
		free(r->columns[i].section);
		free(r->columns[i].key);
		free(r->columns[i].name);
	}
	free(r->sets);
	free(r->columns);
	for (size_t i = 0; r->configs && i < intern_count(r->flats); i++)
		json_free(r->configs[i]);
	free(r->configs);
	intern_free(r->flats);
	intern_free(r->cases);
	free(r->repeated);
	for (size_t i = 0; r->since && i < intern_count(r->subjects); i++)
		free(r->since[i]);
	free(r->since);
	intern_free(r->subjects);
	free(r);
}

struct runs *
runs_new(const struct runs_opts *o)
{
	struct runs *r = mem_new(sizeof *r);

	r->flat = o->flat;
	r->whole = o->whole;
	r->cases = intern_new();
	r->flats = intern_new();
	r->subjects = intern_new();
	r->sets = mem_array(o->nsets + 1, sizeof *r->sets);
	while (r->nsets < o->nsets) {
		struct set *s = &r->sets[r->nsets];

		if (parse_set(o->sets[r->nsets++], s) < 0)
			goto wrong;
	}
	for (size_t i = 0; i < o->ncolumns; i++)
		if (parse_columns(r, o->columns[i]) < 0)
			goto wrong;
	return r;
wrong:
	free_runs(r);
	return NULL;
}

const struct runs_column *
runs_columns(const struct runs *r, size_t *n)
{
	*n = r->ncolumns;
	return r->columns;
}

const struct runs_column *
runs_find_column(const struct runs *r, const char *name)
{
	for (size_t i = 0; i < r->ncolumns; i++)
		if (strcmp(r->columns[i].name, name) == 0)
			return &r->columns[i];
	return NULL;
}

struct json *
runs_new_run(void)
{
	static const char *const sections[] = {
	    "subject", "config", "run", "env", "metrics"};
	struct json *run = record_new("run");

	for (size_t i = 0; i < sizeof sections / sizeof *sections; i++)
		json_set(run, sections[i], json_object());
	json_set_str(run, "status", "ok");
	return run;
}

int
runs_set_metric(struct json *run, const char *key, double v, const char *name,
    const char *where)
{
	struct json *metrics = json_get(run, "metrics");

	if (json_get(metrics, key))
		return err_fail("%s: '%s': another value has the same key '%s'",
		    where, name, key);
	json_set_num(metrics, key, v);
	return 0;
}

void
runs_set_started(struct json *run, double since)
{
	struct tm tm;
	char text[32];
	time_t t;

	if (!(since > 0 && since < 1e11))
		return;
	t = (time_t)since;
	if (!gmtime_r(&t, &tm))
		return;
	strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &tm);
	json_set_str(json_get(run, "run"), "started", text);
}

size_t
runs_count(const struct runs *r)
{
	return r->n;
}

bool
runs_have_failed(const struct runs *r)
{
	return r->dead;
}

/* Returns a key by which two configurations differ, or NULL; borrowed. */
static const char *
find_difference(const struct json *a, const struct json *b)
{
	for (const struct json *j = json_first(a); j; j = json_next(j))
		if (!json_equal(j, json_get(b, json_key(j))))
			return json_key(j);
	for (const struct json *j = json_first(b); j; j = json_next(j))
		if (!json_get(a, json_key(j)))
			return json_key(j);
	return NULL;
}

/* Warns, once, if two cases are the same in the flat form. */
static void
warn_merged_cases(struct runs *r, const struct json *run)
{
	const struct json *config = json_get(run, "config");
	struct json *bare = record_new("run"), *flat;
	const char *key;
	struct str text = {0};
	size_t n = intern_count(r->flats), id;

	if (r->merged)
		goto out;
	json_set(bare, "config", json_dup(config));
	json_set(bare, "flat", json_dup(json_get(run, "flat")));
	flat = flat_from_run(bare, false);
	json_del(flat, "timestamp");
	json_del(flat, "module_commit_timestamp");
	json_canonical(&text, flat);
	json_free(flat);
	id = intern_id(r->flats, text.s);
	str_free(&text);
	if (id == n) {
		r->configs = mem_grow(
		    r->configs, id, &r->configs_cap, sizeof *r->configs);
		r->configs[id] = json_dup(config);
		goto out;
	}
	key = find_difference(r->configs[id], config);
	if (key) {
		err_say("warning: cases that differ only by '%s' are one case "
			"in metrics.json, which has no key for it: compare "
			"their records instead, or use --whole",
		    key);
		r->merged = true;
	}
out:
	json_free(bare);
}

/*
 * Sets 'timestamp' of a subject without a time to the start of its first run:
 * with different timestamps, its runs would be read as different subjects.
 */
static void
share_time(struct runs *r, const struct json *run, struct json *obj)
{
	const char *time = json_get_str(obj, "timestamp");
	size_t n = intern_count(r->subjects), id;
	struct str key = {0};

	if (!time || json_path(run, "subject.time"))
		return;
	json_canonical(&key, json_get(run, "subject"));
	id = intern_id(r->subjects, key.s);
	str_free(&key);
	if (id == n) {
		r->since =
		    mem_grow(r->since, id, &r->since_cap, sizeof *r->since);
		r->since[id] = mem_str(time);
	}
	json_set_str(obj, "timestamp", r->since[id]);
}

/* Writes the run as an element of one JSON array, one per line. */
static int
write_flat(struct runs *r, const struct json *run)
{
	struct json *obj = flat_from_run(run, r->whole);
	struct str s = {0};
	bool good;

	share_time(r, run, obj);
	str_add(&s, r->n ? ",\n" : "[\n");
	json_append(&s, obj);
	good = fwrite(s.s, 1, s.len, stdout) == s.len;
	str_free(&s);
	json_free(obj);
	return good ? 0 : err_fail_sys("cannot write to stdout");
}

int
runs_end(struct runs *r)
{
	int rc = 0;

	if (r->flat && !r->dead &&
	    (fputs(r->n ? "\n]\n" : "[]\n", stdout) == EOF ||
		fflush(stdout) != 0))
		rc = err_fail_sys("cannot write to stdout");
	free_runs(r);
	return rc;
}

static void
number_run(struct runs *r, struct json *run)
{
	struct json *section = json_get(run, "run");
	struct str key = {0};
	size_t id, had = r->cap;

	if (json_get(section, "index"))
		return;
	json_canonical(&key, json_get(run, "config"));
	str_addc(&key, '\n');
	json_canonical(&key, json_get(run, "subject"));
	id = intern_id(r->cases, key.s);
	str_free(&key);
	r->repeated = mem_grow(r->repeated, id, &r->cap, sizeof *r->repeated);
	if (r->cap > had)
		memset(
		    r->repeated + had, 0, (r->cap - had) * sizeof *r->repeated);
	json_set_num(section, "index", (double)++r->repeated[id]);
}

static int
check_run(const struct json *run, const char *where)
{
	const char *status = json_get_str(run, "status");

	if (record_check(run, where) < 0)
		return -1;
	if (strcmp(status, "ok") == 0 && !json_first(json_get(run, "metrics")))
		return err_fail("%s: the run has no metrics", where);
	return 0;
}

/* Converts times to UTC. Deletes invalid ones and returns -1 (reported). */
static int
convert_times(struct json *run, const char *where)
{
	static const char *const places[][2] = {{"subject", "time"},
	    {"subject", "module_time"}, {"run", "started"}};
	char utc[CLOCK_ISO];
	int rc = 0;

	for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
		struct json *section = json_get(run, places[i][0]);
		const char *key = places[i][1];
		const char *time = json_get_str(section, key);

		if (time && clock_utc(utc, time) == 0) {
			json_set_str(section, key, utc);
		} else if (time) {
			rc = err_fail("%s: '%s' is not a valid time: '%s'",
			    where, key, time);
			json_del(section, key);
		}
	}
	return rc;
}

int
runs_add(struct runs *r, struct json *run, const char *where)
{
	int rc = -1, timed;

	for (size_t i = 0; i < r->nsets; i++) {
		const struct set *s = &r->sets[i];

		if (!json_get(run, s->section))
			json_set(run, s->section, json_object());
		json_set(json_get(run, s->section), s->key, json_dup(s->value));
	}
	if (check_run(run, where) < 0)
		goto out;
	timed = convert_times(run, where);
	number_run(r, run);
	if (r->flat && !r->whole)
		warn_merged_cases(r, run);
	if (r->flat)
		rc = write_flat(r, run);
	else
		rc = jsonl_write(STDOUT_FILENO, run);
	r->dead = rc < 0;
	r->n += rc == 0;
	rc |= timed;
out:
	json_free(run);
	return rc;
}

int
runs_write_record(struct runs *r, struct json *rec)
{
	int rc = r->flat ? 0 : jsonl_write(STDOUT_FILENO, rec);

	r->dead = rc < 0;
	json_free(rec);
	return rc;
}
