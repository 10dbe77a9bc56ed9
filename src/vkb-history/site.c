#include "site.h"
#include "archive.h"
#include "changegroup.h"
#include "err.h"
#include "folder.h"
#include "html.h"
#include "index.h"
#include "intern.h"
#include "inputs.h"
#include "json.h"
#include "jsonl.h"
#include "markup.h"
#include "mem.h"
#include "num.h"
#include "opt.h"
#include "proc.h"
#include "record.h"
#include "stacks.h"
#include "str.h"
#include "tempfile.h"
#include "trends.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define PROFILE "-profile.html" /* after the key */

struct commitpage {
	const struct archive_entry *entry, *previous, *next; /* may be NULL */
	const char *folder;                                  /* of the pages */
	const char *work;   /* a folder for temporary files */
	const char *status; /* HTML: what the history says about it */
	const char *url;    /* of commits, before their ids; or NULL */
};

/* --- Runs the programs that make the parts of a site. */

#define PATIENCE_MS (30 * 60 * 1000)

/* Runs a program that is installed beside this one; argv[0] is its name.
 * Returns its exit status, or -1, after reporting it, if that is above 'worst',
 * or if the program did not write the file 'made' (NULL: any). */
static int
call_program(const char **argv, int worst, const char *made)
{
	const char *name = argv[0];
	char *program = proc_beside(name), buf[64];
	struct str said = {0};
	int status, rc;

	argv[0] = program;
	rc = proc_read(argv, false, PATIENCE_MS, &said, &status);
	if (rc == 0 &&
	    (!WIFEXITED(status) || WEXITSTATUS(status) > worst ||
		(made && access(made, F_OK) < 0)))
		rc = err_fail("%s %s%s%s", name,
		    proc_ended(status, buf, sizeof buf), said.len ? ": " : "",
		    said.len ? said.s : "");
	else if (rc == 0)
		rc = WEXITSTATUS(status);
	str_free(&said);
	free(program);
	return rc;
}

/* --- The pages of a commit: its results, compared with the commit before it,
 * by vkb-report, and what its functions execute, by vkb-flame. Each page has
 * links to the index, to the commits before and after it, and to the other
 * page. */

/* Does the commit have a page with its profile? */
static bool
has_profile(const struct archive_entry *e)
{
	return e->profiles + e->sampled > 0;
}

static unsigned long long
add_text(unsigned long long h, const char *s)
{
	return str_hash(h, s, strlen(s) + 1);
}

static unsigned long long
add_neighbour(unsigned long long h, const struct archive_entry *e)
{
	struct str s = {0};

	if (!e)
		return add_text(h, "");
	archive_entry_label(&s, e);
	h = add_text(add_text(h, e->key), s.s);
	str_free(&s);
	return h;
}

/* Returns a hash of what the pages show. */
static unsigned long long
hash_page(const struct commitpage *p, unsigned long long h)
{
	h = str_hash(h, &p->entry->hash, sizeof p->entry->hash);
	if (p->previous)
		h = str_hash(h, &p->previous->hash, sizeof p->previous->hash);
	h = add_neighbour(h, p->entry);
	h = add_neighbour(h, p->previous);
	h = add_neighbour(h, p->next);
	return add_text(h, p->status);
}

/* --- the links */

static void
write_neighbour(struct str *s, const struct archive_entry *e, const char *rel,
    const char *t)
{
	struct str label = {0};

	if (!e)
		return;
	archive_entry_label(&label, e);
	markup_printf(s,
	    "<li><a rel=\"%s\" href=\"%s.html\">%s</a> <span "
	    "class=\"quiet\">%s</span></li>\n",
	    rel, e->key, t, label.s);
	str_free(&label);
}

static void
write_navigation(struct str *s, const struct commitpage *p, bool profile)
{
	const struct archive_entry *e = p->entry;
	const char *id = record_subject_commit(e->subject);

	str_add(s,
	    "<nav aria-label=\"History\"><ul>\n"
	    "<li><a href=\"../index.html\">History</a></li>\n");
	write_neighbour(s, p->previous, "prev", "Previous");
	write_neighbour(s, p->next, "next", "Next");
	if (profile)
		markup_printf(
		    s, "<li><a href=\"%s.html\">Results</a></li>\n", e->key);
	else if (has_profile(e))
		markup_printf(s,
		    "<li><a href=\"%s" PROFILE "\">Profile</a></li>\n", e->key);
	if (p->url && record_is_id(id))
		markup_printf(s,
		    "<li><a rel=\"noreferrer\" href=\"%s%s\">Source</a></li>\n",
		    p->url, id);
	str_add(s, "</ul>\n");
	if (*p->status)
		str_printf(s, "<p>%s</p>\n", p->status);
	str_add(s, "</nav>\n");
}

/* Puts the links above the header of a page that another program has written.
 */
static int
add_navigation(const char *path, const struct commitpage *p, bool profile)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), rc = -1;
	struct str was = {0}, is = {0};
	const char *body, *header = NULL;

	if (fd < 0 || str_read(&was, fd) < 0) {
		rc = err_fail_sys("cannot read '%s'", path);
	} else if (was.len && (body = strstr(was.s, "<body")) &&
	    (header = strstr(body, "<header>"))) {
		str_addn(&is, was.s, (size_t)(header - was.s));
		write_navigation(&is, p, profile);
		str_add(&is, header);
		rc = tempfile_write(path, is.s, is.len);
	} else
		rc = err_fail("'%s' is not a page with a header", path);
	if (fd >= 0)
		close(fd);
	str_free(&was);
	str_free(&is);
	return rc;
}

/* Moves a complete page to where it belongs. */
static int
publish_page(const char *from, const char *path)
{
	if (rename(from, path) == 0)
		return 0;
	return err_fail_sys("cannot write '%s'", path);
}

/* --- the pages */

/* Writes how the commit differs from the one before it to 'deltas'. */
static int
compare_commits(const struct commitpage *p, const char *deltas)
{
	char *format = mem_printf("jsonl:%s", deltas);
	const char *argv[] = {"vkb-compare", "-f", format, "--",
	    p->previous->path, p->entry->path, NULL};
	int rc = call_program(argv, 2, deltas);

	free(format);
	return rc < 0 ? -1 : 0;
}

/* Write one page. They return -1, after reporting it, if it cannot be made. */
static int
write_commit_page(const struct commitpage *p)
{
	const char *key = p->entry->key;
	char *deltas = mem_printf("%s/%s.jsonl", p->work, key),
	     *draft = mem_printf("%s/%s.html", p->work, key),
	     *path = mem_printf("%s/%s.html", p->folder, key);
	struct str title = {0};
	const char *argv[12];
	size_t n = 0;
	int rc = 0;

	archive_entry_name(&title, p->entry);
	unlink(deltas);
	if (p->previous)
		rc = compare_commits(p, deltas);
	argv[n++] = "vkb-report";
	argv[n++] = "-o";
	argv[n++] = draft;
	argv[n++] = "--title";
	argv[n++] = title.s;
	if (p->url) {
		argv[n++] = "--commit-url";
		argv[n++] = p->url;
	}
	argv[n++] = "--";
	argv[n++] = p->entry->path;
	if (p->previous)
		argv[n++] = deltas;
	argv[n] = NULL;
	if (rc == 0 && call_program(argv, 0, NULL) < 0)
		rc = -1;
	if (rc == 0)
		rc = add_navigation(draft, p, false);
	if (rc == 0)
		rc = publish_page(draft, path);
	str_free(&title);
	free(deltas);
	free(draft);
	free(path);
	return rc;
}

/* Returns the profile of a record for vkb-flame, or NULL if it is not of this
 * kind: exact counts are its line, samples are folded stacks. Caller frees. */
static char *
make_profile(const struct json *rec, const char *text, size_t len, bool exact)
{
	struct str s = {0};

	if (exact && archive_is_profile(rec)) {
		str_addn(&s, text, len);
		str_addc(&s, '\n');
	} else if (!exact && archive_is_sampled(rec)) {
		stacks_add(&s, rec);
	}
	return s.len ? str_take(&s) : NULL;
}

/* Writes the last profile of each case of a commit to 'path'. */
static int
write_profiles(const struct archive_entry *e, bool exact, const char *path)
{
	const char *from = e->path, *text;
	struct jsonl *in = jsonl_open(&from, 1);
	struct intern *cases = intern_new();
	char **profiles = NULL;
	struct str all = {0};
	struct json *rec;
	size_t cap = 0, n = 0, id, len;
	int rc;

	while ((rc = jsonl_text(in, &text, &len)) > 0) {
		char *line = mem_strn(text, len), *profile;

		if (record_tree(in, &rec) < 0)
			rec = NULL;
		profile = rec ? make_profile(rec, line, len, exact) : NULL;
		if (profile) {
			id = intern_id(cases, json_get_str(rec, "case"));
			if (id == n) {
				*MEM_ADD(profiles, n, cap) = NULL;
			}
			free(profiles[id]);
			profiles[id] = profile;
		}
		free(line);
		json_free(rec);
	}
	for (size_t i = 0; i < n; i++) {
		str_add(&all, profiles[i]);
		free(profiles[i]);
	}
	if (rc == 0)
		rc = tempfile_write(path, all.s, all.len);
	str_free(&all);
	free(profiles);
	intern_free(cases);
	jsonl_close(in);
	return rc;
}

static int
write_profile_page(const struct commitpage *p)
{
	bool exact = p->entry->profiles > 0;
	bool both = p->previous &&
	    (exact ? p->previous->profiles : p->previous->sampled) > 0;
	const char *key = p->entry->key;
	char *draft = mem_printf("%s/%s" PROFILE, p->work, key),
	     *path = mem_printf("%s/%s" PROFILE, p->folder, key),
	     *format = mem_printf("html:%s", draft),
	     *base = mem_printf("%s/base.jsonl", p->work),
	     *own = mem_printf("%s/own.jsonl", p->work);
	struct str title = {0};
	const char *argv[] = {"vkb-flame", "-f", format, "-t", NULL,
	    both ? "-b" : "--", both ? base : own, both ? "--" : NULL, own,
	    NULL};
	int rc = write_profiles(p->entry, exact, own);

	if (rc == 0 && both)
		rc = write_profiles(p->previous, exact, base);
	str_add(&title, "Profile of ");
	archive_entry_name(&title, p->entry);
	if (both) {
		str_add(&title, " against ");
		archive_entry_name(&title, p->previous);
	}
	argv[4] = title.s;
	if (rc == 0 && call_program(argv, 0, NULL) < 0)
		rc = -1;
	if (rc == 0)
		rc = add_navigation(draft, p, true);
	if (rc == 0)
		rc = publish_page(draft, path);
	str_free(&title);
	free(draft);
	free(path);
	free(format);
	free(base);
	free(own);
	return rc;
}

/* The hash of the input of each page: {"commit/KEY.html": "HASH", ...}. */
#define MANIFEST "manifest.json"
#define WORK ".work" /* folder of temporary files */
#define INDEX "index.html"
#define CHANGES "changes.jsonl"

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

	if (!is_up_to_date(s, name, hash_page(p, start_hash(s)))) {
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
	make_page(s, &p, ".html", write_commit_page);
	if (has_profile(p.entry))
		make_page(s, &p, PROFILE, write_profile_page);
	str_free(&status);
}

/* Writes the change records and the text report of the whole history. Returns
 * -1 on error, after reporting it. */
static int
detect_changes(struct site *s, const char *changes)
{
	char *records = mem_printf("jsonl:%s", changes),
	     *text = mem_printf("text:%s/" INDEX_TEXT, s->out);
	const char *begin[] = {"vkb-detect", "-f", records, "-f", text, "--"};
	size_t n, m = sizeof begin / sizeof *begin;
	const char **paths = archive_list(&s->archive, &n);
	const char **argv = mem_array(m + n + 1, sizeof *argv);
	int rc;

	memcpy(argv, begin, sizeof begin);
	memcpy(argv + m, paths, n * sizeof *paths);
	rc = call_program(argv, 1, NULL);
	if (rc < 0)
		s->rc = err_fail("cannot find the changes of the history");
	free(paths);
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
		*MEM_ADD(s->records, s->nrecords, cap) = rec;
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

		if (inputs_read(a->commits, &text) < 0)
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
		if (!str_starts(name, INDEX_PAGES "/") ||
		    strchr(name + strlen(INDEX_PAGES "/"), '/'))
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

/* Makes and removes pages. Of a history of which nothing could be read the site
 * stays as it is. */
static void
update_pages(struct site *s, const char *dir)
{
	char *manifest = mem_printf("%s/" MANIFEST, s->out);

	if (archive_read(&s->archive, dir) < 0)
		s->rc = -1;
	if (s->rc == 0 || s->archive.n) {
		if (access(manifest, F_OK) == 0)
			s->was = jsonfile_read(manifest);
		s->is = json_object();
		make_pages(s);
		remove_stale(s);
		if (jsonfile_write(manifest, s->is) < 0)
			s->rc = -1;
	}
	for (size_t i = 0; i < s->nrecords; i++)
		json_free(s->records[i]);
	free(s->records);
	changegroup_free(&s->changes);
	trends_free(&s->trends);
	free(manifest);
	json_free(s->was);
	json_free(s->is);
	archive_free(&s->archive);
}

static int
render_all(struct site *s, const char *dir)
{
	s->pages = mem_printf("%s/" INDEX_PAGES, s->out);
	s->work = mem_printf("%s/" WORK, s->out);
	folder_remove(s->work);
	if (folder_make(s->pages) < 0 || folder_make(s->work) < 0)
		s->rc = -1;
	else
		update_pages(s, dir);
	folder_remove(s->work);
	free(s->pages);
	free(s->work);
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
	DIR *d = opendir(dir);
	int lock, rc;

	if (!d) /* what the site shows of it stays */
		return err_fail_sys("cannot read '%s'", dir);
	closedir(d);
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
