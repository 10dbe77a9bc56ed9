#include "intake.h"
#include "changes.h"
#include "err.h"
#include "flat.h"
#include "frames.h"
#include "json.h"
#include "jsonl.h"
#include "machines.h"
#include "mem.h"
#include "names.h"
#include "record.h"
#include "spool.h"
#include "str.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* One file at work. */
struct file {
	struct intake *to;
	const char *ref;     /* of the folder; NULL: none */
	bool results;        /* it is of a folder of results */
	struct names *sames; /* runs that name no session, */
	size_t *count, cap;  /* and how often each came */
	struct str text;     /* scratch */
};

static void
own(struct spool *sp, size_t column, const char *text)
{
	spool_own(sp, column, COLTYPE_STRING, text, strlen(text));
}

/* Which of those in the file that are equal; the same in the same file. */
static size_t
occurrence(struct file *f, const char *hash)
{
	size_t id = names_id(f->sames, hash), had = f->cap;

	f->count = mem_grow(f->count, id, &f->cap, sizeof *f->count);
	if (f->cap > had)
		memset(f->count + had, 0, (f->cap - had) * sizeof *f->count);
	return ++f->count[id];
}

/* One that is long for a key is a hash of it there. */
static void
put_session(struct spool *sp, const char *text)
{
	size_t n = strlen(text);
	char hash[32];

	if (n > SPOOL_SESSION_MAX) {
		snprintf(hash, sizeof hash, "session %016llx",
		    str_hash(STR_HASH, text, n));
		text = hash;
	}
	own(sp, SPOOL_SESSION, text);
}

/*
 * A run is known by session, case, subject and index. Where it does not say
 * them, or stands in a folder of results, where metrics.json has it without
 * them, what was measured is what it is known by. One that failed may come
 * again in its session: the whole of it counts.
 */
static void
put_key(struct file *f, const struct json *run)
{
	struct spool *sp = f->to->spool;
	const struct json *room = json_get(run, "run");
	const char *session = json_get_str(room, "session"),
		   *status = json_get_str(run, "status");
	double index = json_get_num(room, "index", 0);
	char number[32], hash[17], object[32];

	if (!f->results && session && *session && frames_index(index) &&
	    strcmp(status, "ok") == 0) {
		put_session(sp, session);
	} else {
		if (f->results || !session) {
			frames_object(object, run);
		} else {
			frames_hash(hash, run);
			snprintf(
			    object, sizeof object, FRAMES_OBJECT "%s", hash);
		}
		own(sp, SPOOL_SESSION, object);
		index = (double)occurrence(f, object);
	}
	frames_hash(hash, json_get(run, "config"));
	own(sp, SPOOL_CASE, hash);
	frames_hash(hash, json_get(run, "subject"));
	own(sp, SPOOL_SUBJECT, hash);
	snprintf(number, sizeof number, "%.0f", index);
	spool_own(sp, SPOOL_INDEX, COLTYPE_NUMBER, number, strlen(number));
}

/* The folder of the results says what a run does not: who was measured. */
static void
put_ref(const char *ref, struct json *run)
{
	static const char *const names[] = {
	    "commit", "ref", "label", "server_version"};
	struct json *subject = json_get(run, "subject");

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (json_get(subject, names[i]))
			return;
	json_set_str(subject, "ref", ref);
}

static int
put_run(struct file *f, struct json *run, const char *where)
{
	struct spool *sp = f->to->spool;
	struct json *flat;

	if (f->ref)
		put_ref(f->ref, run);
	flat = flat_columns(run);
	if (f->to->releases)
		frames_release(flat, run);
	spool_row(sp, where, 0);
	put_key(f, run);
	for (const struct json *j = json_first(flat); j; j = json_next(j))
		spool_put(sp, json_key(j), j);
	own(sp, SPOOL_TYPE, f->to->test_type);
	str_clear(&f->text);
	json_append(&f->text, run);
	spool_own(sp, SPOOL_RECORD, COLTYPE_NESTED, f->text.s, f->text.len);
	if (strcmp(json_get_str(run, "status"), "ok") != 0)
		f->to->failed++;
	json_free(flat);
	return spool_end(sp);
}

/* The record that stands next. 0; -1: it is bad; -2: no more can be stored. */
static int
put(struct file *f, struct jsonl *in, const char *s, size_t n)
{
	struct json *rec;
	int rc;

	if (n > SPOOL_RECORD_MAX)
		return err_fail("%s: a record of %zu bytes is not stored: "
				"%zu are the most",
		    jsonl_where(in), n, SPOOL_RECORD_MAX);
	rc = f->ref || f->results
	    ? 0
	    : frames_line(f->to->frames, s, n, jsonl_where(in));
	if (rc)
		return rc < 0 ? -2 : 0;
	if (record_tree(in, &rec) < 0)
		return -1;
	if (record_is(rec, "run") && put_run(f, rec, jsonl_where(in)) < 0)
		rc = -2;
	else if (record_is(rec, "env"))
		machines_add(f->to->machines, rec);
	else if (record_is(rec, "change"))
		changes_add(f->to->changes, rec);
	json_free(rec);
	return rc;
}

static int
read_file(struct intake *to, const char *path, const char *ref, bool results)
{
	struct jsonl *in = jsonl_open(&path, 1);
	struct file f = {
	    .to = to, .ref = ref, .results = results, .sames = names_new()};
	const char *s;
	size_t n;
	int got, rc = 0;

	while (rc > -2 && (got = jsonl_text(in, &s, &n)) != 0) {
		if (got > 0)
			got = put(&f, in, s, n);
		if (got < rc)
			rc = got;
	}
	jsonl_close(in);
	names_free(f.sames);
	free(f.count);
	str_free(&f.text);
	return rc < 0 ? -1 : 0;
}

static int
visible(const struct dirent *e)
{
	return e->d_name[0] != '.';
}

static int
is_records(const struct dirent *e)
{
	return visible(e) && str_ends(e->d_name, ".jsonl");
}

/* The records that vkb-bench keeps. 1 where there are some, 0, -1. */
static int
read_records(struct intake *to, const char *dir, const char *ref)
{
	char *runs = mem_printf("%s/runs", dir), *path;
	struct dirent **all = NULL;
	int n = scandir(runs, &all, is_records, alphasort), rc = n > 0;

	for (int i = 0; i < n; i++) {
		path = mem_printf("%s/%s", runs, all[i]->d_name);
		if (read_file(to, path, ref, true) < 0)
			rc = -1;
		free(path);
		free(all[i]);
	}
	free(all);
	free(runs);
	return rc;
}

/* The results of one folder. 1 where there are some, 0, -1. */
static int
read_results(struct intake *to, const char *dir, const char *ref)
{
	char *path = mem_printf("%s/metrics.json", dir);
	int rc = access(path, F_OK) == 0;

	/* The records say more than the metrics.json made of them. */
	if (rc && (rc = read_records(to, dir, ref)) == 0)
		rc = read_file(to, path, ref, true) < 0 ? -1 : 1;
	free(path);
	return rc;
}

static int
read_folder(struct intake *to, const char *dir)
{
	struct dirent **all;
	int n = scandir(dir, &all, visible, alphasort), rc = 0, found, got;
	char *path;

	if (n < 0)
		return err_fail_sys("cannot read '%s'", dir);
	found = read_results(to, dir, NULL);
	if (found < 0)
		rc = -1;
	for (int i = 0; i < n; i++) {
		path = mem_printf("%s/%s", dir, all[i]->d_name);
		got = read_results(to, path,
		    str_utf8(all[i]->d_name, strlen(all[i]->d_name))
			? all[i]->d_name
			: NULL);
		if (got)
			found = 1;
		if (got < 0)
			rc = -1;
		free(path);
		free(all[i]);
	}
	free(all);
	if (!found)
		rc = err_fail("no metrics.json in '%s' or a folder of it", dir);
	return rc;
}

int
intake_read(struct intake *to, const char *path)
{
	struct stat st;

	if (strcmp(path, "-") != 0 && stat(path, &st) == 0 &&
	    S_ISDIR(st.st_mode))
		return read_folder(to, path);
	return read_file(to, path, NULL, false);
}
