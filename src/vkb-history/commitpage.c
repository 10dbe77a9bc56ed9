#include "commitpage.h"
#include "archive.h"
#include "entry.h"
#include "err.h"
#include "intern.h"
#include "json.h"
#include "jsonl.h"
#include "markup.h"
#include "mem.h"
#include "program.h"
#include "record.h"
#include "stacks.h"
#include "str.h"
#include "tempfile.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool
commitpage_has_profile(const struct archive_entry *e)
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
	entry_label(&s, e);
	h = add_text(add_text(h, e->key), s.s);
	str_free(&s);
	return h;
}

unsigned long long
commitpage_hash(const struct commitpage *p, unsigned long long h)
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
	entry_label(&label, e);
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
	else if (commitpage_has_profile(e))
		markup_printf(s,
		    "<li><a href=\"%s" COMMITPAGE_PROFILE
		    "\">Profile</a></li>\n",
		    e->key);
	if (p->url && id && strspn(id, "0123456789abcdef") == strlen(id))
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

/* Writes how the commit differs from the one before it to 'deltas'. It may lack
 * a file if there are too few runs. */
static int
compare_commits(const struct commitpage *p, const char *deltas)
{
	char *format = mem_printf("jsonl:%s", deltas);
	const char *argv[] = {"vkb-compare", "-f", format, "--",
	    p->previous->path, p->entry->path, NULL};
	int rc = program_call(argv, 2);

	free(format);
	return rc < 0 ? -1 : 0;
}

int
commitpage_write(const struct commitpage *p)
{
	const char *key = p->entry->key;
	char *deltas = mem_printf("%s/%s.jsonl", p->work, key),
	     *draft = mem_printf("%s/%s.html", p->work, key),
	     *path = mem_printf("%s/%s.html", p->folder, key);
	struct str title = {0};
	const char *argv[12];
	size_t n = 0;
	int rc = 0;

	entry_name(&title, p->entry);
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
	if (access(deltas, F_OK) == 0)
		argv[n++] = deltas;
	argv[n] = NULL;
	if (rc == 0 && program_call(argv, 0) < 0)
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
				profiles = mem_grow(
				    profiles, n, &cap, sizeof *profiles);
				profiles[n++] = NULL;
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

int
commitpage_write_profile(const struct commitpage *p)
{
	bool exact = p->entry->profiles > 0;
	bool both = p->previous &&
	    (exact ? p->previous->profiles : p->previous->sampled) > 0;
	const char *key = p->entry->key;
	char *draft = mem_printf("%s/%s" COMMITPAGE_PROFILE, p->work, key),
	     *path = mem_printf("%s/%s" COMMITPAGE_PROFILE, p->folder, key),
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
	entry_name(&title, p->entry);
	if (both) {
		str_add(&title, " against ");
		entry_name(&title, p->previous);
	}
	argv[4] = title.s;
	if (rc == 0 && program_call(argv, 0) < 0)
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
