#include "intake.h"
#include "err.h"
#include "flat.h"
#include "json.h"
#include "jsonl.h"
#include "mem.h"
#include "intern.h"
#include "others.h"
#include "record.h"
#include "resultsdir.h"
#include "spool.h"
#include "str.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

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

	if (n > SPOOL_SESSION_MAX) {
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
 * may be repeated in its session, so it gets one made of its whole record.
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

int
intake_read(struct intake *to, const char *path)
{
	struct stat st;

	if (strcmp(path, "-") != 0 && stat(path, &st) == 0 &&
	    S_ISDIR(st.st_mode))
		return resultsdir_each(path, read_results_file, to);
	return read_records(to, path, NULL, false);
}
