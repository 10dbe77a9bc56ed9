#include "intake.h"
#include "err.h"
#include "flat.h"
#include "json.h"
#include "jsonl.h"
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
	const char *ref;      /* of the folder; NULL: none */
	struct names *sames;  /* runs that name no session, */
	size_t *count, cap;   /* and how often each came */
	struct str text, key; /* scratch */
};

static unsigned long long
hash_of(struct str *s, const struct json *room)
{
	str_clear(s);
	record_room(s, room);
	return str_hash(STR_HASH, s->s, s->len);
}

static void
put_hash(
    struct file *f, size_t column, const char *prefix, unsigned long long hash)
{
	char text[64];

	snprintf(text, sizeof text, "%s%016llx", prefix, hash);
	spool_own(f->to->spool, column, COLTYPE_STRING, text);
}

/* Which of those in the file that are equal; the same in the same file. */
static size_t
occurrence(struct file *f, unsigned long long hash)
{
	size_t id, had = f->cap;

	str_clear(&f->key);
	str_printf(&f->key, "%016llx", hash);
	id = names_id(f->sames, f->key.s);
	f->count = mem_grow(f->count, id, &f->cap, sizeof *f->count);
	if (f->cap > had)
		memset(f->count + had, 0, (f->cap - had) * sizeof *f->count);
	return ++f->count[id];
}

/*
 * A run is known by session, case, subject and index. Where it does not say
 * them, or failed and may come again, the whole of it is what it is known by.
 */
static void
put_key(struct file *f, const struct json *run)
{
	struct spool *sp = f->to->spool;
	const struct json *room = json_get(run, "run");
	const char *session = json_get_str(room, "session"),
		   *status = json_get_str(run, "status");
	double index = json_get_num(room, "index", 0);
	unsigned long long whole;
	char number[32];

	if (session && *session && index >= 1 && index < 2147483648. &&
	    index == (double)(long)index && strcmp(status, "ok") == 0) {
		spool_own(sp, SPOOL_SESSION, COLTYPE_STRING, session);
	} else {
		whole = hash_of(&f->text, run);
		put_hash(f, SPOOL_SESSION, "object ", whole);
		index = (double)occurrence(f, whole);
	}
	snprintf(number, sizeof number, "%.0f", index);
	put_hash(f, SPOOL_CASE, "", hash_of(&f->text, json_get(run, "config")));
	put_hash(
	    f, SPOOL_SUBJECT, "", hash_of(&f->text, json_get(run, "subject")));
	spool_own(sp, SPOOL_INDEX, COLTYPE_NUMBER, number);
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
	flat = flat_from_run(run);
	spool_row(sp, where);
	put_key(f, run);
	for (const struct json *j = json_first(flat); j; j = json_next(j))
		spool_put(sp, json_key(j), j);
	spool_own(sp, SPOOL_TYPE, COLTYPE_STRING, f->to->test_type);
	str_clear(&f->text);
	json_append(&f->text, run);
	spool_own(sp, SPOOL_RECORD, COLTYPE_NESTED, f->text.s);
	if (strcmp(json_get_str(run, "status"), "ok") != 0)
		f->to->failed++;
	json_free(flat);
	return spool_end(sp);
}

static int
read_file(struct intake *to, const char *path, const char *ref)
{
	struct jsonl *in = jsonl_open(&path, 1);
	struct file f = {.to = to, .ref = ref, .sames = names_new()};
	struct json *rec;
	int got, rc = 0;

	while ((got = record_next(in, &rec)) != 0) {
		if (got < 0) {
			rc = -1;
			continue;
		}
		if (record_is(rec, "run") &&
		    put_run(&f, rec, jsonl_where(in)) < 0) {
			json_free(rec);
			rc = -1;
			break;
		}
		json_free(rec);
	}
	jsonl_close(in);
	names_free(f.sames);
	free(f.count);
	str_free(&f.text);
	str_free(&f.key);
	return rc;
}

static int
visible(const struct dirent *e)
{
	return e->d_name[0] != '.';
}

/* 1 where there is one, 0, -1. */
static int
read_metrics(struct intake *to, const char *dir, const char *ref)
{
	char *path = mem_printf("%s/metrics.json", dir);
	int rc = access(path, F_OK) == 0;

	if (rc && read_file(to, path, ref) < 0)
		rc = -1;
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
	found = read_metrics(to, dir, NULL);
	if (found < 0)
		rc = -1;
	for (int i = 0; i < n; i++) {
		path = mem_printf("%s/%s", dir, all[i]->d_name);
		got = read_metrics(to, path,
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
	return read_file(to, path, NULL);
}
