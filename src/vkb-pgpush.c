/*
 * vkb-pgpush: stores run records, each once, in the PostgreSQL tables of the
 * Python tool; with --export, reads them back as run records.
 */
#include "err.h"
#include "flat.h"
#include "intern.h"
#include "json.h"
#include "jsonl.h"
#include "mem.h"
#include "num.h"
#include "opt.h"
#include "pg.h"
#include "record.h"
#include "resultsdir.h"
#include "sink.h"
#include "str.h"
#include "vkb-pgpush/coltype.h"
#include "vkb-pgpush/feed.h"
#include "vkb-pgpush/others.h"
#include "vkb-pgpush/schema.h"
#include "vkb-pgpush/spool.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct opts {
	const char *database, *table, *type, *since;
	bool dry, export, quiet;
};

#define AT(f) offsetof(struct opts, f)
#define TRIES 4

static const struct opt option_table[] = {
    {0, "database", OPT_STR, AT(database), "CONNINFO",
	.help = "name, settings or URI; without a password"},
    {0, "dry-run", OPT_FLAG, AT(dry),
	.help = "print the planned SQL; needs no server"},
    {0, "export", OPT_FLAG, AT(export),
	.help = "write the stored runs to stdout as run records"},
    {'q', "quiet", OPT_FLAG, AT(quiet), .help = "print only errors"},
    {0, "since", OPT_STR, AT(since), "TIME",
	.help = "export runs from this time on: 2026-03-02"},
    {0, "table", OPT_STR, AT(table), "ID",
	.help = "use table core (default), tag, or a module's"},
    {0, "test-type", OPT_STR, AT(type), "TEXT",
	.help = "set the column test_type; default the table"},
    {0}};

static const struct opt_prog program = {.name = "vkb-pgpush",
    .operands = "[FILE|DIR ...]",
    .purpose = "Store run records in PostgreSQL, or export them.",
    .table = option_table};

/* --- reads runs into a spool */

struct intake {
	struct spool *spool;
	struct others *others; /* gets the records that are not runs */
	const char *test_type;
	bool releases; /* runs of releases: their commit is the label or ref */
	size_t failed; /* runs in the spool with a status other than ok */
};

/* The file that is being read. */
struct file {
	struct intake *to;
	const char *ref;         /* name of its folder, or NULL */
	bool results;            /* it is in a folder of results */
	struct intern *sessions; /* made-up sessions of runs without one */
	size_t *count, cap;      /* runs with each of them */
	struct str text;         /* scratch */
};

static void
put_own_text(struct spool *sp, size_t column, const char *text)
{
	spool_put_own(sp, column, COLTYPE_STRING, text, strlen(text));
}

/* Returns the number, from 1, of this run among equal ones of the file. */
static size_t
count_occurrence(struct file *f, const char *hash)
{
	size_t id = intern_id(f->sessions, hash), had = f->cap;

	f->count = mem_grow(f->count, id, &f->cap, sizeof *f->count);
	if (f->cap > had)
		memset(f->count + had, 0, (f->cap - had) * sizeof *f->count);
	return ++f->count[id];
}

/* Stores the session; one that is too long for a key is replaced by a hash. */
static void
put_session(struct spool *sp, const char *text)
{
	size_t n = strlen(text);
	char hash[32];

	if (n > SPOOL_SESSION_MAX || str_starts(text, SPOOL_OBJECT)) {
		snprintf(hash, sizeof hash, "session %016llx",
		    str_hash(STR_HASH, text, n));
		text = hash;
	}
	put_own_text(sp, SPOOL_SESSION, text);
}

/* Is the number an index of a run: an integer from 1? */
static bool
is_index(double v)
{
	return v >= 1 && v < 2147483648. && v == (double)(long)v;
}

/*
 * Stores the key of a run: session, case, subject and index. A run without a
 * session or index, or from a folder of results, whose metrics.json lacks them,
 * gets a session made of what identifies it (flat_identity). A failed run
 * may be repeated in its session, so it gets one made of its whole record. The
 * index of a counted run is negative: a session counts and measures a case.
 */
static void
put_key(struct file *f, const struct json *run)
{
	struct spool *sp = f->to->spool;
	const struct json *section = json_get(run, "run");
	struct json *identity;
	const char *session = json_get_str(section, "session"),
		   *status = json_get_str(run, "status");
	double index = json_get_num(section, "index", 0);
	char number[32], hash[17], object[32];

	if (!f->results && session && *session && is_index(index) &&
	    strcmp(status, "ok") == 0) {
		put_session(sp, session);
	} else {
		if (f->results || !session) {
			identity = flat_identity(run);
			others_hash(hash, identity);
			json_free(identity);
		} else {
			others_hash(hash, run);
		}
		snprintf(object, sizeof object, SPOOL_OBJECT "%s", hash);
		put_own_text(sp, SPOOL_SESSION, object);
		index = (double)count_occurrence(f, object);
	}
	if (json_get_bool(run, "counted", false))
		index = -index;
	others_hash(hash, json_get(run, "config"));
	put_own_text(sp, SPOOL_CASE, hash);
	others_hash(hash, json_get(run, "subject"));
	put_own_text(sp, SPOOL_SUBJECT, hash);
	snprintf(number, sizeof number, "%.0f", index);
	spool_put_own(sp, SPOOL_INDEX, COLTYPE_NUMBER, number, strlen(number));
}

/* Sets 'commit' to the label or ref, by which releases are known. */
static void
set_release(struct json *flat, const struct json *run)
{
	const struct json *subject = json_get(run, "subject");
	const char *label = json_get_str(subject, "label");

	if (!json_get_bool(subject, "dirty", false))
		json_set_str(flat, "commit",
		    label ? label : json_get_str(subject, "ref"));
}

/* Stores the text of the line, which may have numbers of more digits than the
 * run, unless the run is not what the line says. */
static void
put_text(struct file *f, const struct json *run, const char *line, size_t n)
{
	struct json *said = json_parse(line, n, NULL, NULL);

	while (n && strchr("\r\n\t ", line[n - 1]))
		n--;
	str_clear(&f->text);
	if (json_equal(said, run))
		str_addn(&f->text, line, n);
	else
		json_append(&f->text, run);
	spool_put_own(
	    f->to->spool, SPOOL_RECORD, COLTYPE_NESTED, f->text.s, f->text.len);
	json_free(said);
}

static int
put_run(struct file *f, struct json *run, const char *where, const char *line,
    size_t n)
{
	struct spool *sp = f->to->spool;
	const struct json *metrics = json_get(run, "metrics");
	struct json *flat;

	if (f->ref)
		resultsdir_set_ref(run, f->ref);
	flat = flat_columns(run);
	if (f->to->releases)
		set_release(flat, run);
	spool_begin_row(sp, where);
	put_key(f, run);
	for (const struct json *j = json_first(flat); j; j = json_next(j))
		spool_put_json(sp, json_key(j), j);
	for (const struct json *j = json_first(metrics); j; j = json_next(j))
		spool_note_metric(sp, flat_metric(json_key(j)));
	put_own_text(sp, SPOOL_TYPE, f->to->test_type);
	put_text(f, run, line, n);
	if (strcmp(json_get_str(run, "status"), "ok") != 0)
		f->to->failed++;
	json_free(flat);
	return spool_end_row(sp);
}

/* Returns 0, -1 for an invalid record, -2 on a spool error (reported). */
static int
put_record(struct file *f, struct jsonl *in, const char *s, size_t n)
{
	struct json *rec;
	int rc = 0;

	if (n > SPOOL_RECORD_MAX)
		return err_fail("%s: a record of %zu bytes is not stored: "
				"the limit is %zu",
		    jsonl_where(in), n, SPOOL_RECORD_MAX);
	if (record_tree(in, &rec) < 0)
		return -1;
	if (record_is(rec, "run") && put_run(f, rec, jsonl_where(in), s, n) < 0)
		rc = -2;
	others_add(f->to->others, rec);
	json_free(rec);
	return rc;
}

static int
read_records(struct intake *to, const char *path, const char *ref, bool results)
{
	struct jsonl *in = jsonl_open(&path, 1);
	struct file f = {
	    .to = to, .ref = ref, .results = results, .sessions = intern_new()};
	const char *s;
	size_t n;
	int got, rc = 0;

	while (rc > -2 && (got = jsonl_text(in, &s, &n)) != 0) {
		if (got > 0)
			got = put_record(&f, in, s, n);
		if (got < rc)
			rc = got;
	}
	jsonl_close(in);
	intern_free(f.sessions);
	free(f.count);
	str_free(&f.text);
	return rc < 0 ? -1 : 0;
}

static int
read_results_file(void *to, const char *path, const char *ref)
{
	return read_records(to, path, ref, true);
}

/*
 * Reads 'path': a file, "-", or a folder with a metrics.json in it or in its
 * subfolders, whose names are the refs. Records that vkb-bench left in runs/
 * beside a metrics.json are read instead of it. Continues after errors. Returns
 * 0, or -1 (errors reported).
 */
static int
read_path(struct intake *to, const char *path)
{
	struct stat st;

	if (strcmp(path, "-") != 0 && stat(path, &st) == 0 &&
	    S_ISDIR(st.st_mode))
		return resultsdir_each(path, read_results_file, to);
	return read_records(to, path, NULL, false);
}

/* --- stores them */

struct push {
	const char *database; /* conninfo, or NULL */
	struct others *others;
	/* Results: */
	size_t stored, there; /* rows */
	struct feed feed;     /* of the last try; free with feed_free */
};

/* Takes the lock and stores all. Returns 0, or -1 (error reported). */
static int
push_in_transaction(struct push *p, struct pg *pg, struct schema *s,
    struct spool *spool, bool quiet)
{
	long long n;

	if (pg_lock(pg, "vkb-pgpush") < 0 ||
	    others_push(p->others, pg, s->table) < 0)
		return -1;
	if (!spool_count_rows(spool))
		return 0;
	if (schema_read(s, pg) < 0 || schema_check(s) < 0 ||
	    schema_plan(s, spool) < 0)
		return -1;
	for (size_t i = 0; i < s->nsql; i++)
		if (pg_do(pg, s->sql[i], NULL, 0) < 0)
			return -1;
	feed_free(&p->feed);
	p->feed = (struct feed){.spool = spool, .quiet = quiet};
	n = feed_metrics(&p->feed, pg, s);
	if (n < 0 || feed_records(&p->feed, pg, s) < 0)
		return -1;
	p->stored = (size_t)n;
	p->there = spool_count_rows(spool) - p->feed.refused - p->stored;
	return 0;
}

/* Plans, alters the tables and stores all rows or none; tries again if the
 * connection breaks. Returns 0, or -1: nothing stored (reported). */
static int
push_rows(struct push *p, struct schema *s, struct spool *spool)
{
	struct pg *pg;
	bool again = true;
	int rc = -1;

	for (int i = 0; rc < 0 && again && i < TRIES; i++) {
		if (i)
			err_say("trying again: nothing was stored so far");
		pg = pg_open(p->database);
		if (!pg)
			return -1;
		if (pg_begin(pg) == 0 &&
		    push_in_transaction(p, pg, s, spool, i > 0) == 0)
			rc = pg_commit(pg);
		again = pg_transient(pg);
		pg_close(pg);
	}
	return rc;
}

/* Reports the keys that get no column because the table is full. */
static void
report_omitted_keys(const struct schema *s)
{
	if (s->omitted)
		err_say("%s: %zu %s no column, first '%.100s': a table "
			"has %d at most; vkb_runs has all values",
		    s->table, s->omitted,
		    s->omitted == 1 ? "key gets" : "keys get", s->first_omitted,
		    SCHEMA_COLUMNS);
}

/* Prints the plan as SQL statements. Returns 0, or -1 (error reported). */
static int
dry_run(struct push *p, struct schema *s, struct spool *spool, size_t failed)
{
	struct sink out = {.fd = STDOUT_FILENO};
	int rc;

	if (schema_plan(s, spool) < 0)
		return -1;
	p->feed = (struct feed){.spool = spool};
	rc = feed_metrics(&p->feed, NULL, s) < 0 ? -1 : 0;
	report_omitted_keys(s);
	for (size_t i = 0; i < s->nsql; i++)
		str_printf(&out.s, "%s;\n", s->sql[i]);
	others_append_tables(p->others, &out.s);
	str_printf(&out.s, "-- %s: %zu runs", s->table,
	    spool_count_rows(spool) - p->feed.refused);
	if (failed)
		str_printf(&out.s, ", %zu of them failed", failed);
	str_addc(&out.s, '\n');
	return sink_close(&out) < 0 ? -1 : rc;
}

static void
report_push(const struct push *p, const struct schema *s, size_t failed)
{
	const struct others_list *envs = &p->others->lists[OTHERS_ENV];
	const struct others_list *changes = &p->others->lists[OTHERS_CHANGE];
	struct str text = {0};

	for (size_t i = 0; i < s->nsql; i++)
		if (str_starts(s->sql[i], "ALTER") ||
		    str_starts(s->sql[i], "DROP"))
			err_say("%s", s->sql[i]);
	report_omitted_keys(s);
	if (p->feed.cut)
		err_say("%s: left out %zu values that did not fit in rows of "
			"%d bytes; vkb_runs has all values",
		    s->table, p->feed.cut, SCHEMA_ROW);
	if (p->feed.rounded)
		err_say("column '%s': times are rounded to microseconds; "
			"vkb_runs has them unrounded",
		    p->feed.rounded);
	str_printf(&text, "%s: %zu run%s stored, %zu were there already",
	    s->table, p->stored, num_plural(p->stored), p->there);
	if (failed)
		str_printf(&text, ", %zu of all failed", failed);
	if (p->feed.refused)
		str_printf(&text, "; %zu refused", p->feed.refused);
	if (envs->n)
		str_printf(&text, "; vkb_envs: %zu of %zu env record%s stored",
		    envs->stored, envs->n, num_plural((double)envs->n));
	if (changes->n)
		str_printf(&text, "; vkb_changes: %zu stored", changes->n);
	err_say("%s", text.s);
	str_free(&text);
}

static int
push_files(const struct opts *o, struct schema *s, const struct opt_args *args)
{
	struct spool *spool = spool_new(opt_tmpdir());
	struct intake in = {.spool = spool,
	    .test_type = o->type ? o->type
		: o->table       ? o->table
				 : "core"};
	struct others others = {0};
	struct push p = {.database = o->database, .others = &others};
	int rc = 0, done = 0;

	in.releases = o->table && strcmp(o->table, "tag") == 0;
	in.others = &others;
	for (size_t i = 0; i < args->n; i++)
		rc |= read_path(&in, args->v[i]);
	if (!args->n)
		rc = read_path(&in, "-");
	if (o->dry)
		done = dry_run(&p, s, spool, in.failed);
	else if (spool_count_rows(spool) || others.lists[OTHERS_ENV].n ||
	    others.lists[OTHERS_CHANGE].n) {
		done = push_rows(&p, s, spool);
		if (done == 0 && !o->quiet)
			report_push(&p, s, in.failed);
	}
	feed_free(&p.feed);
	others_free(&others);
	spool_free(spool);
	return done < 0 || p.feed.refused ? -1 : rc;
}

/* --- export */

/* Rows without vkb_session are other tools'; the rest comes from vkb_runs. */
static void
append_export_query(struct str *sql, const struct schema *s)
{
	bool timed = schema_find_column(s, "timestamp") != NULL;
	const struct schema_column *id = schema_find_column(s, "id");
	bool counted = id && id->type.kind > COLTYPE_BOOLEAN &&
	    id->type.kind <= COLTYPE_BIGINT;

	str_add(sql, "SELECT origin, id, record FROM (");
	if (s->kind)
		str_printf(sql,
		    "SELECT %s::timestamptz AS at, $1 AS origin, "
		    "%s::bigint AS id, row_to_json(t)::text AS record "
		    "FROM %s t%s",
		    timed ? "t.\"timestamp\"" : "NULL",
		    counted ? "t.id" : "NULL", s->table,
		    schema_find_column(s, "vkb_session")
			? " WHERE t.vkb_session IS NULL"
			: "");
	if (s->kind && s->runs_kind)
		str_add(sql, " UNION ALL ");
	if (s->runs_kind)
		str_add(sql,
		    "SELECT \"timestamp\", 'vkb_runs', id, record::text "
		    "FROM vkb_runs WHERE metrics_table = $1");
	str_add(sql,
	    ") runs WHERE $2::timestamptz IS NULL OR at >= $2::timestamptz "
	    "ORDER BY at NULLS FIRST, origin, id");
	if (!counted)
		str_add(sql, ", record COLLATE \"C\"");
}

/* The state of an export. */
struct export
{
	struct sink out;
	bool bad; /* a row was not a run, and was reported */
};

/* Writes a row; reports and skips one that is not a run. */
static int
write_exported_row(void *arg, const struct pg_rows *rows, size_t i)
{
	struct export *e = arg;
	const char *origin = pg_value(rows, i, 0), *id = pg_value(rows, i, 1);
	const char *text = pg_value(rows, i, 2), *why;
	char *where = mem_printf("%s: row %s", origin, id ? id : "?");
	struct json *rec = json_parse(text, strlen(text), &why, NULL);
	bool stored = strcmp(origin, "vkb_runs") == 0;
	int rc;

	if (!rec || json_type(rec) != JSON_OBJECT)
		rc = err_fail(
		    "%s: bad record: %s", where, rec ? "not an object" : why);
	else {
		if (!stored)
			rec = flat_row_to_run(rec);
		rc = record_check(rec, where);
	}
	if (rc == 0) {
		if (stored && !strchr(text, '\n'))
			str_printf(&e->out.s, "%s\n", text);
		else
			json_append_line(&e->out.s, rec);
		sink_relieve(&e->out);
	}
	e->bad |= rc < 0;
	json_free(rec);
	free(where);
	return e->out.rc;
}

/* Writes the runs of a table to stdout as run records, by time, then insertion:
 * pushed runs unchanged, rows of the Python tool converted as vkb-parse does.
 * 'since': a time, or NULL for all. Returns 0, or -1 (errors reported). */
static int
export_runs(const char *database, struct schema *s, const char *since)
{
	const char *args[] = {s->table, since};
	struct export e = {.out = {.fd = STDOUT_FILENO}};
	struct pg *pg = pg_open(database);
	struct str sql = {0};
	int rc = -1;

	if (!pg)
		return -1;
	if (pg_do(pg, "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY", NULL,
		0) < 0 ||
	    schema_read(s, pg) < 0)
		goto out;
	if (!s->kind) {
		err_say("database: the table '%s' does not exist; check "
			"--database and --table",
		    s->table);
		goto out;
	}
	append_export_query(&sql, s);
	rc = pg_each(pg, sql.s, args, 2, write_exported_row, &e);
out:
	if (sink_close(&e.out) < 0 || e.bad)
		rc = -1;
	str_free(&sql);
	pg_close(pg);
	return rc;
}

/* --- options */

/* Returns a message about options that exclude each other, or NULL. */
static const char *
find_conflict(const struct opts *o, const struct opt_args *args)
{
	if (o->export && args->n)
		return "--export takes no FILE";
	if (o->export && (o->dry || o->type))
		return "--export cannot be combined with --dry-run or "
		       "--test-type";
	if (o->since && !o->export)
		return "--since needs --export";
	return NULL;
}

static int
run_pgpush(void *opts, struct opt_args *args)
{
	const struct opts *o = opts;
	const char *why = find_conflict(o, args);
	struct schema *s;
	int rc;

	if (why)
		return opt_usage(&program, why);
	if (!o->export && !args->n && opt_stdin(&program) < 0)
		return -1;
	if (o->since && !coltype_is_time(o->since))
		return err_fail(
		    "option '--since': invalid time '%s', it must be "
		    "like 2026-03-02 or 2026-03-02T08:00:00Z",
		    o->since);
	if (o->type && !str_utf8(o->type, strlen(o->type)))
		return err_fail(
		    "option '--test-type': '%s' is not UTF-8", o->type);
	s = schema_new(o->table ? o->table : "core");
	if (!s)
		return -1;
	rc = o->export ? export_runs(o->database, s, o->since)
		       : push_files(o, s, args);
	schema_free(s);
	return rc;
}

int
main(int argc, char **argv)
{
	struct opts o = {0};

	return opt_main(&program, argc, argv, &o, run_pgpush);
}
