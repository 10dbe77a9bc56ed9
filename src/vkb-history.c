/*
 * vkb-history: keeps the history of a branch in a folder of JSON lines, a file
 * for each commit, without a database. Adds and prunes records, and writes a
 * static site or the runs to compare with.
 */
#include "clock.h"
#include "err.h"
#include "gitrepo.h"
#include "json.h"
#include "jsonfile.h"
#include "mem.h"
#include "num.h"
#include "opt.h"
#include "record.h"
#include "sink.h"
#include "str.h"
#include "vkb-history/adding.h"
#include "vkb-history/archive.h"
#include "vkb-history/site.h"

#include <fnmatch.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct opts {
	const char *repo, *commit, *url, *except;
	long long keep, last;
	double days;
	bool quiet;
};

#define AT(f) offsetof(struct opts, f)

static const struct opt option_table[] = {
    {'C', "directory", OPT_STR, AT(repo), "DIR",
	.help = "baseline: take ancestors by this repository"},
    {0, "commit", OPT_STR, AT(commit), "COMMIT",
	.help = "baseline: print that of this commit"},
    {0, "last", OPT_INT, AT(last), "N", .min = 1, .max = 1e6,
	.help = "baseline: print N commits (1)"},
    {0, "commit-url", OPT_STR, AT(url), "URL",
	.help = "site: link each commit to URL and its id"},
    {0, "keep", OPT_INT, AT(keep), "N", .min = 0, .max = 1e9,
	.help = "prune: keep the newest N commits"},
    {0, "days", OPT_REAL, AT(days), "N", .min = 0, .max = 1e6,
	.help = "prune: keep runs of the last N days"},
    {0, "except", OPT_STR, AT(except), "PATTERN",
	.help = "prune: keep refs and labels like '[0-9]*'"},
    {'q', "quiet", OPT_FLAG, AT(quiet), .help = "print errors only"}, {0}};

static const struct opt_prog program = {.name = "vkb-history",
    .operands = "add|prune|site|baseline DIR [FILE ... | OUT]",
    .purpose = "Keep the history of a branch as files.",
    .table = option_table};

typedef int operation(const struct opts *, const char *dir, char **v, size_t n);

static int
do_add(const struct opts *o, const char *dir, char **v, size_t n)
{
	int lock, rc;

	if (!n && opt_stdin(&program) < 0)
		return -1;
	lock = archive_lock(dir, true);
	if (lock < 0)
		return -1;
	rc = adding_files(dir, (const char *const *)v, n, o->quiet);
	close(lock);
	return rc;
}

/* --- prune */

static bool
is_excepted(const struct archive_entry *e, const char *pattern)
{
	static const char *const keys[] = {"ref", "label"};

	for (size_t i = 0; pattern && i < sizeof keys / sizeof *keys; i++) {
		const char *s = json_get_str(e->subject, keys[i]);

		if (s && fnmatch(pattern, s, 0) == 0)
			return true;
	}
	return false;
}

/* 'newer' is the number of newer entries. An entry without a time is not old.
 */
static bool
should_remove(const struct opts *o, const struct archive_entry *e, size_t newer)
{
	if (is_excepted(e, o->except))
		return false;
	if (o->keep >= 0 && newer >= (unsigned long long)o->keep)
		return true;
	return o->days >= 0 && clock_now() - e->measured > o->days * 86400;
}

static void
report_removed(struct sink *out, const struct archive_entry *e)
{
	char *name = record_subject_title(e->subject);

	str_add(&out->s, "removed ");
	str_visible(&out->s, name);
	if (!isnan(e->time))
		str_printf(&out->s, ", %s", e->day);
	str_printf(
	    &out->s, ", %zu run%s\n", e->runs, num_plural((double)e->runs));
	free(name);
}

/* Removes commits that are beyond either limit and not excepted, and lists
 * them. A file that cannot be read is kept, and reported. */
static int
do_prune(const struct opts *o, const char *dir, char **v, size_t n)
{
	struct sink out = {.fd = STDOUT_FILENO};
	struct archive archive;
	size_t newer = 0;
	int lock = archive_lock(dir, false), rc;

	(void)v;
	(void)n;
	if (lock < 0)
		return -1;
	rc = archive_read(&archive, dir);
	for (size_t i = archive.n; i-- > 0;) {
		const struct archive_entry *e = &archive.v[i];

		if (!should_remove(o, e, newer)) {
			newer += !is_excepted(e, o->except);
			continue;
		}
		if (unlink(e->path) < 0)
			rc = err_fail_sys("cannot remove '%s'", e->path);
		else
			report_removed(&out, e);
	}
	archive_free(&archive);
	close(lock);
	return sink_close(&out) < 0 ? -1 : rc;
}

/* --- baseline */

struct choice {
	const struct archive *archive;
	size_t *at, n, most; /* indexes of entries, the newest first */
};

/* Is the entry of this commit, without uncommitted changes? Either id may be
 * abbreviated. */
static bool
is_entry_of(const struct archive_entry *e, const char *id)
{
	const char *commit = record_subject_commit(e->subject);

	return commit && strlen(commit) >= 7 && strlen(id) >= 7 &&
	    (str_starts(id, commit) || str_starts(commit, id)) &&
	    !record_subject_is_dirty(e->subject);
}

static int
on_commit(void *arg, const char *id)
{
	struct choice *c = arg;

	for (size_t i = c->archive->n; i-- > 0 && c->n < c->most;)
		if (is_entry_of(&c->archive->v[i], id))
			c->at[c->n++] = i;
	return c->n == c->most;
}

static void
choose_newest(struct choice *c)
{
	while (c->n < c->most && c->n < c->archive->n) {
		c->at[c->n] = c->archive->n - 1 - c->n;
		c->n++;
	}
}

/* Chooses ancestors by the repository. Returns -1 on error, after reporting it.
 */
static int
choose_ancestors(struct choice *c, const struct opts *o)
{
	struct gitrepo *repo = gitrepo_open(o->repo);
	char id[GITREPO_ID];
	int rc = -1, found;

	if (!repo)
		return -1;
	found = gitrepo_find(repo, o->commit, id);
	if (found == 0)
		err_say("there is no commit '%s' in '%s'%s", o->commit, o->repo,
		    gitrepo_shallow(repo));
	else if (found > 0)
		rc = gitrepo_walk(repo, id, NULL, false, on_commit, c);
	gitrepo_free(repo);
	return rc < 0 ? -1 : 0;
}

/* Chooses, without a repository, the commit itself and older ones. */
static int
choose_older(struct choice *c, const struct opts *o)
{
	size_t n = c->archive->n;

	while (n > 0 && !is_entry_of(&c->archive->v[n - 1], o->commit))
		n--;
	if (n == 0) {
		err_say(
		    "commit '%s' was not measured: the newest commits are "
		    "taken; name a repository with -C to take its ancestors",
		    o->commit);
		choose_newest(c);
	}
	while (n-- > 0 && c->n < c->most)
		c->at[c->n++] = n;
	return 0;
}

static int
print_choice(const struct choice *c)
{
	struct sink out = {.fd = STDOUT_FILENO};
	struct str text = {0};
	int rc = 0;

	for (size_t i = c->n; rc == 0 && i-- > 0;) {
		rc = jsonfile_text(c->archive->v[c->at[i]].path, &text);
		str_addn(&out.s, text.s, text.len);
		sink_relieve(&out);
		str_clear(&text);
	}
	str_free(&text);
	return sink_close(&out) < 0 ? -1 : rc;
}

/* Writes the records of the baseline of a commit, the newest measured commits
 * before it, and of the commit itself, the oldest first. */
static int
do_baseline(const struct opts *o, const char *dir, char **v, size_t n)
{
	struct archive archive;
	struct choice c = {.archive = &archive, .most = (size_t)o->last};
	int rc = archive_read(&archive, dir), chosen = 0;

	(void)v;
	(void)n;
	c.at = mem_array(archive.n + 1, sizeof *c.at);
	if (c.most > archive.n)
		c.most = archive.n;
	if (!o->commit)
		choose_newest(&c);
	else if (c.most)
		chosen =
		    o->repo ? choose_ancestors(&c, o) : choose_older(&c, o);
	if (chosen == 0 && c.n == 0)
		err_say("there are no earlier results in '%s'; a comparison "
			"works without them",
		    dir);
	if (chosen < 0 || print_choice(&c) < 0)
		rc = -1;
	free(c.at);
	archive_free(&archive);
	return rc;
}

/* --- the operations */

static int
do_site(const struct opts *o, const char *dir, char **v, size_t n)
{
	(void)n;
	return site_write(dir, v[0], o->url, o->quiet);
}

static const struct verb {
	const char *name;
	operation *run;
	size_t least, most; /* operands after DIR */
} verbs[] = {
    {"add", do_add, 0, (size_t)-1},
    {"prune", do_prune, 0, 0},
    {"site", do_site, 1, 1},
    {"baseline", do_baseline, 0, 0},
};

static const struct verb *
find_verb(const char *name)
{
	for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++)
		if (strcmp(verbs[i].name, name) == 0)
			return &verbs[i];
	return NULL;
}

/* Returns what is wrong with the options or operands; NULL: nothing. */
static const char *
find_usage_error(const struct opts *o, const struct verb *v, size_t n)
{
	bool pruned = o->keep >= 0 || o->days >= 0;

	if (n < v->least)
		return "no OUT";
	if (n > v->most)
		return "too many operands";
	if ((pruned || o->except) && v->run != do_prune)
		return "--keep, --days and --except are for prune";
	if (!pruned && v->run == do_prune)
		return "prune needs --keep or --days";
	if ((o->commit || o->repo || o->last != 1) && v->run != do_baseline)
		return "-C, --commit and --last are for baseline";
	if (o->repo && !o->commit)
		return "-C needs --commit";
	if (o->url && v->run != do_site)
		return "--commit-url is for site";
	return NULL;
}

static int
run_history(void *dst, struct opt_args *args)
{
	const struct opts *o = dst;
	const struct verb *v = args->n ? find_verb(args->v[0]) : NULL;
	const char *why;

	why = !v          ? "the first operand is add, prune, site or baseline"
	    : args->n < 2 ? "no DIR"
			  : find_usage_error(o, v, args->n - 2);
	if (why)
		return opt_usage(&program, why);
	return v->run(o, args->v[1], args->v + 2, args->n - 2);
}

int
main(int argc, char **argv)
{
	struct opts o = {.keep = -1, .days = -1, .last = 1};

	return opt_main(&program, argc, argv, &o, run_history);
}
