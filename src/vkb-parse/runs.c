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
#include "resultsdir.h"
#include "str.h"
#include "units.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The known facts about a case, a subject or a configuration in the flat form.
 */
struct known {
	size_t runs;         /* of the case */
	char *since;         /* start time of the subject's first run */
	struct json *config; /* of the first run with the flat form */
};

struct runs {
	struct runs_keys sets, columns;
	bool flat, whole, write_failed;
	bool warned;         /* of warn_merged_cases */
	struct intern *keys; /* see find_known */
	struct known *known;
	size_t cap, n;   /* capacity of 'known'; runs written */
	const char *ref; /* see runs_set_ref */
};

static const char *const sections[] = {
    "subject", "config", "run", "env", "metrics"};
#define SECTIONS (sizeof sections / sizeof *sections)

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

/* Returns whether the key is always a text, even if it looks like a number. */
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

/* Parses [SECTION.]KEY=TEXT of 'n' bytes; see parse_keys. */
static int
parse_key(struct runs_key *k, const char *text, size_t n, const char *fallback)
{
	const char *option = fallback ? "--columns" : "--set";
	const char *eq = memchr(text, '=', n),
		   *dot = eq ? memchr(text, '.', (size_t)(eq - text)) : NULL;
	const char *from = dot ? dot + 1 : text;

	if (!eq || from == eq || eq + 1 == text + n || (!dot && !fallback))
		return err_fail("option '%s': '%.*s' is not %s", option, (int)n,
		    text,
		    fallback ? "KEY=COLUMN, like rps=throughput or "
			       "config.command=cmd"
			     : "SECTION.KEY=VALUE, like subject.label=mine");
	k->section =
	    dot ? mem_strn(text, (size_t)(dot - text)) : mem_str(fallback);
	k->key = mem_strn(from, (size_t)(eq - from));
	k->text = mem_strn(eq + 1, (size_t)(text + n - eq - 1));
	if (!fallback)
		k->value = runs_parse_typed(k->section, k->key, k->text);
	for (size_t i = 0; i < SECTIONS - !fallback; i++)
		if (strcmp(sections[i], k->section) == 0)
			return 0;
	return err_fail(
	    "option '%s': '%s' is not one of subject, config, run, env%s",
	    option, k->section, fallback ? ", metrics" : "");
}

/*
 * Parses the keys of --set or, if there is a section that they may omit, the
 * lists of --columns.
 */
static int
parse_keys(
    struct runs_keys *to, const struct opt_list *texts, const char *fallback)
{
	for (size_t i = 0; i < texts->n; i++) {
		const char *text = texts->v[i];
		size_t n;

		if (!str_utf8(text, strlen(text)))
			return err_fail("option '%s': '%s' is not UTF-8",
			    fallback ? "--columns" : "--set", text);
		for (;; text += n + 1) {
			n = fallback ? strcspn(text, ",") : strlen(text);
			to->v = mem_grow(to->v, to->n, &to->cap, sizeof *to->v);
			to->v[to->n] = (struct runs_key){0};
			if (parse_key(&to->v[to->n++], text, n, fallback) < 0)
				return -1;
			if (!text[n])
				break;
		}
	}
	return 0;
}

static void
free_keys(struct runs_keys *k)
{
	for (size_t i = 0; i < k->n; i++) {
		free(k->v[i].section);
		free(k->v[i].key);
		free(k->v[i].text);
		json_free(k->v[i].value);
	}
	free(k->v);
}

static void
free_runs(struct runs *r)
{
	free_keys(&r->sets);
	free_keys(&r->columns);
	for (size_t i = 0; i < intern_count(r->keys); i++) {
		free(r->known[i].since);
		json_free(r->known[i].config);
	}
	free(r->known);
	intern_free(r->keys);
	free(r);
}

struct runs *
runs_new(const struct runs_opts *o)
{
	struct runs *r = mem_new(sizeof *r);

	r->flat = o->flat;
	r->whole = o->whole;
	r->keys = intern_new();
	if (parse_keys(&r->sets, &o->sets, NULL) == 0 &&
	    parse_keys(&r->columns, &o->columns, "metrics") == 0)
		return r;
	free_runs(r);
	return NULL;
}

void
runs_set_ref(struct runs *r, const char *ref)
{
	r->ref = ref;
}

const struct runs_keys *
runs_columns(const struct runs *r)
{
	return &r->columns;
}

struct json *
runs_new_run(const char *command)
{
	struct json *run = record_new("run");

	for (size_t i = 0; i < SECTIONS; i++)
		json_set(run, sections[i], json_object());
	json_set_str(json_get(run, "config"), "command", command);
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

int
runs_set_value(struct json *run, const char *name, const char *unit, double v,
    const char *input, const char *where)
{
	double factor;
	char *key = units_key(name, unit, &factor);
	int rc = runs_set_metric(run, key, v * factor, input, where);

	free(key);
	return rc;
}

void
runs_copy(struct json *run, const struct json *from, const struct runs_value *v)
{
	for (; v->path; v++) {
		const struct json *j = json_path(from, v->path);
		const char *text = json_str(j);

		if (!j || json_type(j) == JSON_NULL ||
		    (text && strcmp(v->key, "commit") == 0 &&
			text[strspn(text, "0123456789abcdefABCDEF")]))
			continue;
		json_set(json_get(run, v->section), v->key, json_dup(j));
	}
}

void
runs_set_started(struct json *run, double since)
{
	char text[CLOCK_ISO];

	if (!(since > 0 && since < 1e11))
		return;
	clock_iso_of(text, floor(since));
	strcpy(strchr(text, '.'), "Z"); /* without milliseconds */
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
	return r->write_failed;
}

/* Returns what is known of the kind of thing with these keys: at first {0}. */
static struct known *
find_known(struct runs *r, const char *kind, const struct json *a,
    const struct json *b)
{
	struct str key = {0};
	size_t id, had = r->cap;

	str_add(&key, kind);
	json_canonical(&key, a);
	str_addc(&key, '\n');
	json_canonical(&key, b);
	id = intern_id(r->keys, key.s);
	str_free(&key);
	r->known = mem_grow(r->known, id, &r->cap, sizeof *r->known);
	if (r->cap > had)
		memset(r->known + had, 0, (r->cap - had) * sizeof *r->known);
	return &r->known[id];
}

/* Warns, once, if two cases are the same in the flat form. */
static void
warn_merged_cases(struct runs *r, const struct json *run)
{
	const struct json *config = json_get(run, "config");
	struct json *bare = record_new("run"), *flat;
	struct known *k;
	const char *key;

	json_set(bare, "config", json_dup(config));
	json_set(bare, "flat", json_dup(json_get(run, "flat")));
	flat = flat_from_run(bare, false);
	json_del(flat, "timestamp");
	json_del(flat, "module_commit_timestamp");
	k = find_known(r, "flat ", flat, NULL);
	json_free(flat);
	json_free(bare);
	if (!k->config)
		k->config = json_dup(config);
	key = json_difference(k->config, config);
	if (!key)
		return;
	err_say("warning: cases that differ only by '%s' are one case in "
		"metrics.json, which has no key for it: compare their records "
		"instead, or use --whole",
	    key);
	r->warned = true;
}

/*
 * Sets 'timestamp' of a subject without a time to the start of its first run:
 * with different timestamps, its runs would be read as different subjects.
 */
static void
share_time(struct runs *r, const struct json *run, struct json *obj)
{
	const char *time = json_get_str(obj, "timestamp");
	struct known *k;

	if (!time || json_path(run, "subject.time"))
		return;
	k = find_known(r, "subject ", json_get(run, "subject"), NULL);
	if (!k->since)
		k->since = mem_str(time);
	json_set_str(obj, "timestamp", k->since);
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
	jsonpublic_append(&s, obj);
	good = fwrite(s.s, 1, s.len, stdout) == s.len;
	str_free(&s);
	json_free(obj);
	return good ? 0 : err_fail_sys("cannot write to stdout");
}

int
runs_end(struct runs *r)
{
	int rc = 0;

	if (r->flat && !r->write_failed &&
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

	if (!json_get(section, "index"))
		json_set_num(section, "index",
		    (double)++find_known(r, "case ", json_get(run, "config"),
			json_get(run, "subject"))
			->runs);
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

/* Converts times to UTC; a day or minute is its beginning. Deletes invalid ones
 * and returns -1 (reported). */
static int
convert_times(struct json *run, const char *where)
{
	static const char *const paths[][2] = {{"subject", "time"},
	    {"subject", "module_time"}, {"run", "started"}};
	char utc[CLOCK_ISO];
	int rc = 0;

	for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
		struct json *section = json_get(run, paths[i][0]);
		const char *key = paths[i][1];
		const char *time = json_get_str(section, key);
		struct clock_parts p;

		if (time && clock_parse(&p, time) == 0 &&
		    clock_utc_of(utc, &p) == 0) {
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

	for (size_t i = 0; i < r->sets.n; i++) {
		const struct runs_key *s = &r->sets.v[i];

		if (!json_get(run, s->section))
			json_set(run, s->section, json_object());
		json_set(json_get(run, s->section), s->key, json_dup(s->value));
	}
	if (r->ref)
		resultsdir_set_ref(run, r->ref);
	if (r->write_failed || check_run(run, where) < 0)
		goto out;
	timed = convert_times(run, where);
	number_run(r, run);
	if (r->flat && !r->whole && !r->warned)
		warn_merged_cases(r, run);
	if (r->flat)
		rc = write_flat(r, run);
	else
		rc = jsonl_write(STDOUT_FILENO, run);
	r->write_failed = rc < 0;
	r->n += rc == 0;
	rc |= timed;
out:
	json_free(run);
	return rc;
}

int
runs_write_record(struct runs *r, struct json *rec)
{
	int rc = r->write_failed ? -1
	    : r->flat            ? 0
				 : jsonl_write(STDOUT_FILENO, rec);

	r->write_failed = rc < 0;
	json_free(rec);
	return rc;
}
