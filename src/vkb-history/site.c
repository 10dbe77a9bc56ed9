#include "site.h"
#include "archive.h"
#include "changegroup.h"
#include "commitpage.h"
#include "err.h"
#include "folder.h"
#include "html.h"
#include "index.h"
#include "json.h"
#include "jsonfile.h"
#include "jsonl.h"
#include "mem.h"
#include "num.h"
#include "opt.h"
#include "program.h"
#include "record.h"
#include "str.h"
#include "tempfile.h"
#include "trends.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The hash of the input of each page: {"commit/KEY.html": "HASH", ...}. */
#define MANIFEST "manifest.json"
#define WORK ".work" /* folder of temporary files */
#define INDEX "index.html"
#define CHANGES "changes.jsonl"
#define FORMER "history.html" /* a page that older versions made */

struct site {
	const char *out, *url;
	struct archive archive;
	struct trends trends;
	struct json **records; /* of changes */
	size_t nrecords;
	struct changegroups changes;
	struct json *was, *is; /* manifests */
	char *work, *pages;    /* folders */
	size_t made, kept, gone;
	int rc;
};

/* Was the page made of the input with this hash? Notes the hash in either case.
 */
static bool
is_up_to_date(struct site *s, const char *name, unsigned long long hash)
{
	const char *was = json_get_str(s->was, name);
	char *path = mem_printf("%s/%s", s->out, name), is[32];
	bool there;

	snprintf(is, sizeof is, "%016llx", hash);
	there = was && strcmp(was, is) == 0 && access(path, F_OK) == 0;
	free(path);
	s->kept += there;
	json_set_str(s->is, name, is);
	return there;
}

/* Returns a hash of what all pages depend on. */
static unsigned long long
start_hash(const struct site *s)
{
	unsigned long long h = STR_HASH;

	h = str_hash(h, opt_version(), strlen(opt_version()));
	return s->url ? str_hash(h, s->url, strlen(s->url)) : h;
}

/* Reports that a page could not be made; the next run tries it again. */
static void
fail_page(struct site *s, const char *name)
{
	json_del(s->is, name);
	s->rc = err_fail("cannot make the page '%s/%s'", s->out, name);
}

/* Returns the next entry from 'at' on, in steps of 1 or -1, of the same branch
 * if both have one; or NULL. */
static const struct archive_entry *
find_neighbour(const struct archive *a, size_t at, int step)
{
	for (size_t i = at + (size_t)step; i < a->n; i += (size_t)step)
		if (trends_same_branch(&a->v[at], &a->v[i]))
			return &a->v[i];
	return NULL;
}

/* Makes a page unless it is up to date. */
static void
make_page(struct site *s, const struct commitpage *p, const char *end,
    int (*write)(const struct commitpage *))
{
	char *name = mem_printf(INDEX_PAGES "/%s%s", p->entry->key, end);

	if (!is_up_to_date(s, name, commitpage_hash(p, start_hash(s)))) {
		if (write(p) < 0)
			fail_page(s, name);
		else
			s->made++;
	}
	free(name);
}

static void
make_commit_pages(struct site *s, const struct index *index, size_t at)
{
	const struct archive *a = &s->archive;
	struct commitpage p = {.entry = &a->v[at],
	    .previous = find_neighbour(a, at, -1),
	    .next = find_neighbour(a, at, 1),
	    .folder = s->pages,
	    .work = s->work,
	    .url = s->url};
	struct str status = {0};

	str_add(&status, "");
	index_write_status(&status, index, p.entry, "../" INDEX);
	p.status = status.s;
	make_page(s, &p, ".html", commitpage_write);
	if (commitpage_has_profile(p.entry))
		make_page(s, &p, COMMITPAGE_PROFILE, commitpage_write_profile);
	str_free(&status);
}

/* Writes the change records and the text report of the whole history. Returns
 * -1 on error, after reporting it. */
static int
detect_changes(struct site *s, const char *changes)
{
	const struct archive *a = &s->archive;
	char *records = mem_printf("jsonl:%s", changes),
	     *text = mem_printf("text:%s/" INDEX_TEXT, s->out);
	const char *begin[] = {"vkb-detect", "-f", records, "-f", text, "--"};
	size_t n = sizeof begin / sizeof *begin;
	const char **argv = mem_array(n + a->n + 2, sizeof *argv);
	int rc;

	memcpy(argv, begin, sizeof begin);
	if (a->commits)
		argv[n++] = a->commits;
	for (size_t i = 0; i < a->n; i++)
		argv[n++] = a->v[i].path;
	rc = program_call(argv, 1);
	if (rc < 0)
		s->rc = err_fail("cannot find the changes of the history");
	free(argv);
	free(records);
	free(text);
	return rc < 0 ? -1 : 0;
}

static void
read_changes(struct site *s, const char *changes)
{
	struct jsonl *in;
	struct json *rec;
	size_t cap = 0;
	int got;

	if (access(changes, F_OK) < 0)
		return;
	in = jsonl_open(&changes, 1);
	while ((got = record_next(in, &rec)) != 0) {
		if (got < 0) {
			s->rc = -1;
			continue;
		}
		if (!record_is(rec, "change")) {
			json_free(rec);
			continue;
		}
		s->records =
		    mem_grow(s->records, s->nrecords, &cap, sizeof *s->records);
		s->records[s->nrecords++] = rec;
	}
	jsonl_close(in);
}

/* Returns a hash of the whole history. */
static unsigned long long
hash_history(struct site *s)
{
	const struct archive *a = &s->archive;
	unsigned long long h = start_hash(s);

	if (a->commits) {
		struct str text = {0};

		if (jsonfile_text(a->commits, &text) < 0)
			s->rc = -1;
		h = str_hash(h, text.s, text.len);
		str_free(&text);
	}
	for (size_t i = 0; i < a->n; i++)
		h = str_hash(h, &a->v[i].hash, sizeof a->v[i].hash);
	return h;
}

static void
write_index(struct site *s, const struct index *index)
{
	char *path = mem_printf("%s/" INDEX, s->out);
	struct str text = {0};

	index_write(&text, index);
	if (tempfile_write(path, text.s, text.len) < 0)
		fail_page(s, INDEX);
	else
		s->made++;
	str_free(&text);
	free(path);
}

/* Makes the index and the pages of all commits. The change records stay in the
 * site. */
static void
make_pages(struct site *s)
{
	struct index index = {.archive = &s->archive,
	    .trends = &s->trends,
	    .changes = &s->changes};
	bool kept = is_up_to_date(s, INDEX, hash_history(s));
	char *changes = mem_printf("%s/" CHANGES, s->out);

	if (!kept)
		unlink(changes);
	if (!kept && s->archive.n && detect_changes(s, changes) < 0)
		index.unknown = true;
	read_changes(s, changes);
	if (trends_read(&s->trends, &s->archive) < 0)
		s->rc = -1;
	changegroup_make(&s->changes, &s->trends, s->records, s->nrecords);
	for (size_t i = 0; i < s->archive.n; i++)
		make_commit_pages(s, &index, i);
	if (!kept)
		write_index(s, &index);
	if (index.unknown)
		json_del(s->is, INDEX); /* the next run tries it again */
	free(changes);
}

/* Removes pages of commits that were pruned. After an error, or if one cannot
 * be removed, it stays in the manifest. */
static void
remove_stale(struct site *s)
{
	bool sure = s->rc == 0; /* else its file perhaps could not be read */

	for (const struct json *j = json_first(s->was); j; j = json_next(j)) {
		const char *name = json_key(j);
		char *path;

		if (json_get(s->is, name))
			continue;
		if (sure && strcmp(name, FORMER) != 0 &&
		    (!str_starts(name, INDEX_PAGES "/") ||
			strchr(name + strlen(INDEX_PAGES "/"), '/')))
			continue;
		path = mem_printf("%s/%s", s->out, name);
		if (sure && unlink(path) == 0)
			s->gone++;
		else if (!sure || errno != ENOENT) {
			json_set_str(s->is, name, json_str(j));
			if (sure)
				s->rc =
				    err_fail_sys("cannot remove '%s'", path);
		}
		free(path);
	}
}

static int
render_all(struct site *s, const char *dir)
{
	char *manifest = mem_printf("%s/" MANIFEST, s->out);

	s->pages = mem_printf("%s/" INDEX_PAGES, s->out);
	s->work = mem_printf("%s/" WORK, s->out);
	folder_remove(s->work);
	if (folder_make(s->pages) < 0 || folder_make(s->work) < 0)
		s->rc = -1;
	else if (archive_read(&s->archive, dir) < 0)
		s->rc = -1;
	if (access(manifest, F_OK) == 0)
		s->was = jsonfile_read(manifest);
	s->is = json_object();
	make_pages(s);
	remove_stale(s);
	if (jsonfile_write(manifest, s->is) < 0)
		s->rc = -1;
	folder_remove(s->work);
	for (size_t i = 0; i < s->nrecords; i++)
		json_free(s->records[i]);
	free(s->records);
	changegroup_free(&s->changes);
	trends_free(&s->trends);
	free(manifest);
	free(s->pages);
	free(s->work);
	json_free(s->was);
	json_free(s->is);
	archive_free(&s->archive);
	return s->rc;
}

static bool
is_same_folder(const char *dir, const char *out)
{
	struct stat a, b;

	return stat(dir, &a) == 0 && stat(out, &b) == 0 &&
	    a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

int
site_write(const char *dir, const char *out, const char *url, bool quiet)
{
	struct site s = {.out = out, .url = url};
	int lock, rc;

	if (url && html_check_url("--commit-url", url) < 0)
		return -1;
	if (is_same_folder(dir, out))
		return err_fail(
		    "the site needs another folder than the history '%s'", dir);
	lock = archive_lock(out, true);
	if (lock < 0)
		return -1;
	rc = render_all(&s, dir);
	if (!quiet)
		err_say("%zu page%s made, %zu unchanged, %zu removed", s.made,
		    num_plural((double)s.made), s.kept, s.gone);
	close(lock);
	return rc;
}
