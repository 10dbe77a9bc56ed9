#include "site.h"
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
#include "proc.h"
#include "record.h"
#include "archive.h"
#include "str.h"
#include "tempfile.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* The hash of the input of each page: {"commit/KEY.html": "HASH", ...}. */
#define MANIFEST "manifest.json"
#define WORK ".work" /* folder of temporary files */
#define PATIENCE_MS (30 * 60 * 1000)

struct site {
	const char *out, *url;
	struct archive archive;
	struct json *was, *is; /* manifests */
	char *work;
	size_t made, kept, gone;
	int rc;
};

/* Runs a program that is installed beside this one. Returns its exit status, or
 * -1, after reporting it, if that is above 'worst'. */
static int
call_program(const char **argv, int worst)
{
	const char *name = argv[0];
	char *program = proc_beside(name), buf[64];
	struct str said = {0};
	int status, rc;

	argv[0] = program;
	rc = proc_read(argv, false, PATIENCE_MS, &said, &status);
	if (rc == 0 && (!WIFEXITED(status) || WEXITSTATUS(status) > worst))
		rc = err_fail("%s %s%s%s", name,
		    proc_ended(status, buf, sizeof buf), said.len ? ": " : "",
		    said.len ? said.s : "");
	else if (rc == 0)
		rc = WEXITSTATUS(status);
	str_free(&said);
	free(program);
	return rc;
}

/* Returns the ref of an entry; NULL if it is missing or the commit's id. */
static const char *
get_branch(const struct archive_entry *e)
{
	const char *ref = json_get_str(e->subject, "ref"),
		   *commit = json_get_str(e->subject, "commit");

	return ref && commit && str_starts(commit, ref) ? NULL : ref;
}

/* Returns the entry before 'at' in time, of the same branch if both have one;
 * or NULL. */
static const struct archive_entry *
find_previous(const struct archive *s, size_t at)
{
	const char *ref = get_branch(&s->v[at]);

	for (size_t i = at; i-- > 0;) {
		const char *other = get_branch(&s->v[i]);

		if (!ref || !other || strcmp(ref, other) == 0)
			return &s->v[i];
	}
	return NULL;
}

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

/* Writes the page 'name' of n files, by vkb-report. */
static void
render_page(struct site *s, const char *name, const char *title,
    const char *const *files, size_t n)
{
	char *path = mem_printf("%s/%s", s->out, name);
	const char *begin[] = {"vkb-report", "-o", path, "--title", title,
	    s->url ? "--commit-url" : "--", s->url, "--"};
	size_t k = s->url ? 8 : 6;
	const char **argv = mem_array(n + k + 1, sizeof *argv);

	memcpy(argv, begin, k * sizeof *argv);
	memcpy(argv + k, files, n * sizeof *argv);
	if (call_program(argv, 0) < 0)
		fail_page(s, name);
	else
		s->made++;
	free(argv);
	free(path);
}

/* Writes the page of a commit, compared with the one before it, if possible. */
static void
write_commit_page(struct site *s, size_t at)
{
	const struct archive_entry *e = &s->archive.v[at],
				   *base = find_previous(&s->archive, at);
	char *page = mem_printf(INDEX_PAGES "/%s.html", e->key),
	     *title = record_subject_title(e->subject), *deltas, *format;
	unsigned long long h = start_hash(s);
	const char *files[2] = {e->path};
	size_t n = 1;
	int rc = 0;

	h = str_hash(h, &e->hash, sizeof e->hash);
	if (base)
		h = str_hash(h, &base->hash, sizeof base->hash);
	if (!is_up_to_date(s, page, h)) {
		deltas = mem_printf("%s/%s.jsonl", s->work, e->key);
		format = mem_printf("jsonl:%s", deltas);
		unlink(deltas);
		if (base) {
			const char *argv[] = {"vkb-compare", "-f", format, "--",
			    base->path, e->path, NULL};

			/* 2 may be too few runs */
			rc = call_program(argv, 2);
		}
		if (access(deltas, F_OK) == 0)
			files[n++] = deltas;
		if (rc < 0)
			fail_page(s, page);
		else
			render_page(s, page, title, files, n);
		free(format);
		free(deltas);
	}
	free(page);
	free(title);
}

/* Writes the change records and the text report of the whole history. Returns
 * -1 on error, after reporting it. */
static int
detect_changes(
    struct site *s, const char *changes, const char *const *files, size_t n)
{
	char *records = mem_printf("jsonl:%s", changes),
	     *text = mem_printf("text:%s/" INDEX_TEXT, s->out);
	const char *begin[] = {"vkb-detect", "-f", records, "-f", text, "--"};
	size_t k = sizeof begin / sizeof *begin;
	const char **argv = mem_array(n + k + 1, sizeof *argv);
	int rc;

	memcpy(argv, begin, sizeof begin);
	memcpy(argv + k, files, n * sizeof *argv);
	unlink(changes);
	rc = call_program(argv, 1);
	if (rc < 0)
		s->rc = err_fail("cannot find the changes of the history");
	free(argv);
	free(records);
	free(text);
	return rc < 0 ? -1 : 0;
}

static void
write_index(struct site *s, const char *changes)
{
	char *path = mem_printf("%s/index.html", s->out);
	struct json **v = NULL, *rec;
	size_t n = 0, cap = 0;
	struct str text = {0};
	struct jsonl *in;
	int got;

	if (access(changes, F_OK) == 0) {
		in = jsonl_open(&changes, 1);
		while ((got = record_next(in, &rec)) != 0) {
			if (got < 0) {
				s->rc = -1;
				continue;
			}
			v = mem_grow(v, n, &cap, sizeof *v);
			v[n++] = rec;
		}
		jsonl_close(in);
	}
	index_page(&text, &s->archive, v, n, s->url);
	if (tempfile_write(path, text.s, text.len) < 0)
		s->rc = -1;
	for (size_t i = 0; i < n; i++)
		json_free(v[i]);
	free(v);
	str_free(&text);
	free(path);
}

/* Writes the page with the trends of all cases, and the index. The change
 * records stay in the site. */
static void
write_overview(struct site *s)
{
	const struct archive *archive = &s->archive;
	const char **files = mem_array(archive->n + 3, sizeof *files);
	char *changes = mem_printf("%s/changes.jsonl", s->out);
	unsigned long long h = start_hash(s);
	size_t n = 0;

	if (archive->commits) {
		struct str text = {0};

		if (jsonfile_text(archive->commits, &text) < 0)
			s->rc = -1;
		h = str_hash(h, text.s, text.len);
		str_free(&text);
		files[n++] = archive->commits;
	}
	for (size_t i = 0; i < archive->n; i++) {
		h = str_hash(h, &archive->v[i].hash, sizeof archive->v[i].hash);
		files[n++] = archive->v[i].path;
	}
	if (archive->n && !is_up_to_date(s, INDEX_TRENDS, h)) {
		if (detect_changes(s, changes, files, n) == 0 &&
		    access(changes, F_OK) == 0)
			files[n++] = changes;
		render_page(s, INDEX_TRENDS, "Trends", files, n);
	}
	write_index(s, changes);
	free(changes);
	free(files);
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
		if (sure &&
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
	char *manifest = mem_printf("%s/" MANIFEST, s->out),
	     *pages = mem_printf("%s/" INDEX_PAGES, s->out);

	s->work = mem_printf("%s/" WORK, s->out);
	folder_remove(s->work);
	if (folder_make(pages) < 0 || folder_make(s->work) < 0)
		s->rc = -1;
	else if (archive_read(&s->archive, dir) < 0)
		s->rc = -1;
	if (access(manifest, F_OK) == 0)
		s->was = jsonfile_read(manifest);
	s->is = json_object();
	for (size_t i = 0; i < s->archive.n; i++)
		write_commit_page(s, i);
	write_overview(s);
	remove_stale(s);
	if (jsonfile_write(manifest, s->is) < 0)
		s->rc = -1;
	folder_remove(s->work);
	free(pages);
	free(manifest);
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
