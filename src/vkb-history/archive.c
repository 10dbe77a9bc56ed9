#include "archive.h"
#include "clock.h"
#include "err.h"
#include "folder.h"
#include "json.h"
#include "jsonl.h"
#include "markup.h"
#include "mem.h"
#include "intern.h"
#include "record.h"
#include "hashset.h"
#include "str.h"

#include <dirent.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define END ".jsonl"

/* Adds a hash of the tree if there are uncommitted changes. */
static void
add_dirty(struct str *s, const struct json *subject, const char *flag,
    const char *tree)
{
	if (json_get_bool(subject, flag, false))
		str_printf(
		    s, "-dirty-%016llx", json_hash(json_get(subject, tree)));
}

char *
archive_file(const struct json *subject)
{
	const char *commit = json_get_str(subject, "commit"),
		   *module = json_get_str(subject, "module_commit");
	struct str s = {0};

	if ((!commit && !module) || (commit && !record_is_id(commit)) ||
	    (module && !record_is_id(module)))
		return mem_printf("subject-%016llx" END, json_hash(subject));
	if (commit) {
		str_add(&s, commit);
		add_dirty(&s, subject, "dirty", "tree");
	}
	if (module) {
		str_printf(&s, "%s%s", commit ? "-" : "", module);
		add_dirty(&s, subject, "module_dirty", "module_tree");
	}
	str_add(&s, END);
	return str_take(&s);
}

int
archive_lock(const char *dir, bool make)
{
	return make && folder_make(dir) < 0 ? -1 : folder_lock(dir, true);
}

/* Returns a time in seconds since the epoch, or NAN. */
static double
read_time(const char *s)
{
	double t;

	return s && clock_seconds(s, &t) == 0 ? t : NAN;
}

/* State of reading one file. */
struct file_reading {
	struct archive *archive;
	struct archive_entry *e;
	struct hashset *cases; /* of this file */
	struct hashset *all;   /* of all files */
	double first;          /* start of the first run */
};

static void
add_case(struct file_reading *r, const struct json *config)
{
	unsigned long long h = json_hash(config);

	if (!config || hashset_add(r->cases, h))
		return;
	r->e->cases++;
	r->archive->cases += !hashset_add(r->all, h);
}

static size_t
get_count(const struct json *rec, const char *key)
{
	double v = json_get_num(rec, key, 0);

	return v > 0 && v < 1e15 ? (size_t)v : 0;
}

bool
archive_is_profile(const struct json *rec)
{
	const char *mode = json_get_str(rec, "mode");

	return record_is(rec, "profile") && mode &&
	    strcmp(mode, "count") == 0 && json_get_str(rec, "case") &&
	    json_get(rec, "functions") && json_get(rec, "edges");
}

bool
archive_is_sampled(const struct json *rec)
{
	return record_is(rec, "profile") && json_get_str(rec, "case") &&
	    json_get_str(rec, "stacks");
}

static void
count_record(struct file_reading *r, const struct json *rec)
{
	const struct json *subject = json_get(rec, "subject");
	double t = read_time(json_get_str(json_get(rec, "run"), "started"));
	const char *status = json_get_str(rec, "status");
	struct archive_entry *e = r->e;

	if (!subject)
		return;
	if (!e->subject) {
		e->subject = json_dup(subject);
		e->time = read_time(record_subject_time(subject));
	}
	if (isnan(r->first) || t < r->first)
		r->first = t;
	if (isnan(e->measured) || t > e->measured)
		e->measured = t;
	e->profiles += archive_is_profile(rec);
	e->sampled += archive_is_sampled(rec);
	if (record_is(rec, "run")) {
		e->runs++;
		e->failed += !status || strcmp(status, "ok") != 0;
	} else if (record_is(rec, "summary")) {
		e->runs += get_count(rec, "n") + get_count(rec, "failed");
		e->failed += get_count(rec, "failed");
	} else
		return;
	add_case(r, json_get(rec, "config"));
}

/* Returns -1, after reporting it, if the file or a record in it is bad. */
static int
read_entry(struct archive *s, struct archive_entry *e, struct hashset *all)
{
	struct file_reading r = {s, e, hashset_new(), all, NAN};
	const char *path = e->path, *text;
	struct jsonl *in = jsonl_open(&path, 1);
	struct json *rec;
	size_t n;
	int got;

	e->hash = STR_HASH;
	while ((got = jsonl_text(in, &text, &n)) > 0) {
		e->hash = str_hash(e->hash, text, n);
		got = record_tree(in, &rec);
		if (got < 0)
			break;
		count_record(&r, rec);
		json_free(rec);
	}
	if (!e->subject)
		e->subject = json_object();
	if (isnan(e->time))
		e->time = r.first;
	if (!isnan(e->time))
		clock_iso_of(e->day, e->time)[strlen("2026-03-01")] = '\0';
	hashset_free(r.cases);
	jsonl_close(in);
	return got < 0 ? -1 : 0;
}

static void
free_entry(struct archive_entry *e)
{
	free(e->key);
	free(e->path);
	free(e->title);
	json_free(e->subject);
}

static int
is_record_file(const struct dirent *d)
{
	return d->d_name[0] != '.' && str_ends(d->d_name, END) &&
	    strcmp(d->d_name, ARCHIVE_COMMITS) != 0;
}

/* Can the name be used, without escapes, for a page and in a URL? */
static bool
is_plain_name(const char *name)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyz"
				    "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";

	return name[strspn(name, plain)] == '\0';
}

/* By time, NAN first; then by name. */
static int
compare_by_time(const void *a, const void *b)
{
	const struct archive_entry *x = a, *y = b;

	if (isnan(x->time) || isnan(y->time)) {
		if (isnan(x->time) != isnan(y->time))
			return isnan(x->time) ? -1 : 1;
	} else if (x->time != y->time)
		return x->time < y->time ? -1 : 1;
	return strcmp(x->key, y->key);
}

/* Sets the titles from the commit records. Returns -1 on error, after reporting
 * it. */
static int
read_titles(struct archive *s)
{
	const char *path = s->commits;
	struct jsonl *in = jsonl_open(&path, 1);
	struct intern *ids = intern_new();
	char **titles = NULL;
	size_t cap = 0, id, n;
	struct json *rec;
	int got, rc = 0;

	while ((got = record_next(in, &rec)) != 0) {
		if (got < 0) {
			rc = -1;
			continue;
		}
		if (record_is(rec, "commit")) {
			size_t had = intern_count(ids);

			id = intern_id(ids, json_get_str(rec, "commit"));
			if (id == had) {
				titles =
				    mem_grow(titles, id, &cap, sizeof *titles);
				titles[id] =
				    mem_str(json_get_str(rec, "title"));
			}
		}
		json_free(rec);
	}
	n = intern_count(ids);
	for (size_t i = 0; i < s->n; i++) {
		const char *commit = record_subject_commit(s->v[i].subject);

		if (commit && (id = intern_id(ids, commit)) < n)
			s->v[i].title = mem_str(titles[id]);
	}
	for (size_t i = 0; i < n; i++)
		free(titles[i]);
	free(titles);
	intern_free(ids);
	jsonl_close(in);
	return rc;
}

/* Returns -1, after reporting it, if the file cannot be read; skips a file
 * whose name is not plain. */
static int
add_file(
    struct archive *s, const char *dir, const char *name, struct hashset *cases)
{
	struct archive_entry e = {
	    .key = mem_strn(name, strlen(name) - strlen(END)),
	    .path = mem_printf("%s/%s", dir, name),
	    .time = NAN,
	    .day = "?",
	    .measured = NAN};
	bool plain = is_plain_name(name);

	if (plain && read_entry(s, &e, cases) == 0) {
		*MEM_ADD(s->v, s->n, s->cap) = e;
		return 0;
	}
	if (!plain)
		err_say("'%s' is ignored for its name: add it with vkb-history "
			"add, or rename it",
		    e.path);
	free_entry(&e);
	return plain ? -1 : 0;
}

int
archive_read(struct archive *s, const char *dir)
{
	struct dirent **all;
	char *commits = mem_printf("%s/" ARCHIVE_COMMITS, dir);
	int n = scandir(dir, &all, is_record_file, alphasort), rc = 0;
	struct hashset *cases;

	*s = (struct archive){0};
	if (n < 0) {
		free(commits);
		return err_fail_sys("cannot read '%s'", dir);
	}
	cases = hashset_new();
	for (int i = 0; i < n; i++) {
		if (add_file(s, dir, all[i]->d_name, cases) < 0)
			rc = -1;
		free(all[i]);
	}
	free(all);
	hashset_free(cases);
	mem_sort(s->v, s->n, sizeof *s->v, compare_by_time);
	if (access(commits, F_OK) == 0) {
		s->commits = commits;
		if (read_titles(s) < 0)
			rc = -1;
	} else
		free(commits);
	return rc;
}

const char **
archive_list(const struct archive *s, size_t *n)
{
	const char **v = mem_array(s->n + 1, sizeof *v);

	*n = 0;
	if (s->commits)
		v[(*n)++] = s->commits;
	for (size_t i = 0; i < s->n; i++)
		v[(*n)++] = s->v[i].path;
	return v;
}

void
archive_free(struct archive *s)
{
	for (size_t i = 0; i < s->n; i++)
		free_entry(&s->v[i]);
	free(s->v);
	free(s->commits);
}

/* --- how a commit is shown to people */

enum { LABEL = 100 /* bytes */ };

static const char *
get_title(const struct archive_entry *e)
{
	if (record_subject_is_dirty(e->subject))
		return "uncommitted changes";
	return e->title ? e->title : "";
}

/* Returns what is shown before the title; caller frees. */
static char *
format_id(const struct archive_entry *e)
{
	const char *commit = record_subject_commit(e->subject);

	return commit && *get_title(e) ? record_commit_brief(commit, 8)
				       : record_subject_title(e->subject);
}

void
archive_entry_name(struct str *s, const struct archive_entry *e)
{
	char *id = format_id(e);
	const char *title = get_title(e);

	str_printf(s, "%s%s%s", id, *title ? " " : "", title);
	free(id);
}

void
archive_entry_label(struct str *s, const struct archive_entry *e)
{
	size_t from = s->len;

	if (!isnan(e->time))
		str_printf(s, "%s ", e->day);
	archive_entry_name(s, e);
	str_cut(s, from + LABEL);
}

void
archive_entry_link(
    struct str *s, const struct archive_entry *e, const char *folder)
{
	char *id = format_id(e);

	/* Keys need no escapes: archive_read takes plain file names only. */
	str_printf(s, "<a href=\"%s%s.html\">", folder, e->key);
	markup_printf(s, "%s</a> %s", id, get_title(e));
	free(id);
}
