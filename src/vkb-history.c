/*
 * vkb-history: keeps the history of a branch in a folder of JSON lines, a file
 * for each commit, without a database. Adds and prunes records, and writes a
 * static site or the runs to compare with.
 */
#include "clock.h"
#include "err.h"
#include "gitrepo.h"
#include "hashset.h"
#include "intern.h"
#include "inputs.h"
#include "json.h"
#include "jsonl.h"
#include "mem.h"
#include "num.h"
#include "opt.h"
#include "record.h"
#include "sink.h"
#include "str.h"
#include "tempfile.h"
#include "vkb-history/archive.h"
#include "vkb-history/site.h"
#include "vkb-history/stacks.h"

#include <fnmatch.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/*
 * Adds records to an archive, each once.
 */

/* A file of the archive. */
struct target {
	char *path;
	struct str was, more; /* its content, and the added records */
	struct hashset *known;
	size_t added;
	bool bad; /* it cannot be read, so it is not changed */
};

struct env {
	unsigned long long session;
	struct json *rec;
};

struct adding {
	const char *dir;
	struct intern *files;
	struct target *v; /* by the ids of files */
	size_t n, cap;
	struct hashset *equal; /* runs of the input without a key */
	struct use {
		unsigned long long session;
		size_t target;
	} * uses; /* the files with runs of each session */
	size_t nuses, usecap;
	struct hashset *paired;
	struct env *envs;
	size_t nenvs, envcap;
	struct intern *others; /* types that are left out */
	size_t present, left_out;
	int rc;
};

static unsigned long long
mix_hash(unsigned long long h, unsigned long long v)
{
	return str_hash(h, &v, sizeof v);
}

/* Returns a hash of the record without the stacks that stacks_keep adds. */
static unsigned long long
hash_record(const struct json *rec)
{
	struct json *copy;
	unsigned long long h;

	if (!json_get(rec, "stacks"))
		return json_hash(rec);
	copy = json_dup(rec);
	json_del(copy, "stacks");
	h = json_hash(copy);
	json_free(copy);
	return h;
}

/* Returns the key that tells whether a record was added before: of a successful
 * run its session, case and index, and whether it was counted, as a session
 * counts and measures a case; of a commit its id. A failed run may be
 * repeated, so that its key is the whole record and how many equal ones came
 * before, by the set 'equal'; that of all others is the whole record. */
static unsigned long long
make_key(const struct json *rec, struct hashset *equal)
{
	const struct json *run = json_get(rec, "run");
	const char *session = json_get_str(run, "session"),
		   *status = json_get_str(rec, "status");
	double index = json_get_num(run, "index", 0);
	unsigned long long h = STR_HASH;

	if (record_is(rec, "commit")) {
		const char *id = json_get_str(rec, "commit");

		return str_hash(h, id, strlen(id));
	}
	if (!record_is(rec, "run") || !session || !*session || index < 1 ||
	    !status || strcmp(status, "ok") != 0) {
		h = mix_hash(h, hash_record(rec));
		while (record_is(rec, "run") && hashset_add(equal, h))
			h = mix_hash(h, h);
		return h;
	}
	h = str_hash(h, session, strlen(session) + 1);
	h = mix_hash(h, json_hash(json_get(rec, "config")));
	h = mix_hash(h, json_hash(json_get(rec, "subject")));
	h = mix_hash(h, json_get_bool(rec, "counted", false));
	return str_hash(h, &index, sizeof index);
}

/* Reads the file, if it exists. */
static void
load_target(struct adding *a, struct target *t)
{
	const char *path = t->path;
	struct jsonl *in;
	struct hashset *equal;
	struct json *rec;
	int got;

	if (access(path, F_OK) < 0)
		return;
	equal = hashset_new();
	in = jsonl_open(&path, 1);
	while (!t->bad && (got = record_next(in, &rec)) != 0) {
		t->bad = got < 0;
		if (got < 0)
			break;
		hashset_add(t->known, make_key(rec, equal));
		json_free(rec);
	}
	jsonl_close(in);
	hashset_free(equal);
	if (!t->bad && inputs_read(path, &t->was) < 0)
		t->bad = true;
	if (t->bad) {
		err_say("'%s' is not changed: repair it to add records", path);
		a->rc = -1;
	}
}

static size_t
intern_target(struct adding *a, const char *file)
{
	size_t id = intern_id(a->files, file);
	struct target *t;

	if (id < a->n)
		return id;
	t = MEM_ADD(a->v, a->n, a->cap);
	*t = (struct target){
	    .path = mem_printf("%s/%s", a->dir, file), .known = hashset_new()};
	load_target(a, t);
	return id;
}

static void
append_to_target(
    struct adding *a, size_t id, const struct json *rec, unsigned long long key)
{
	struct target *t = &a->v[id];

	if (t->bad)
		return;
	if (hashset_add(t->known, key)) {
		a->present++;
		return;
	}
	json_append_line(&t->more, rec);
	t->added++;
}

static unsigned long long
hash_session(const char *session)
{
	return str_hash(STR_HASH, session, strlen(session));
}

static void
add_measured(struct adding *a, const struct json *rec)
{
	const char *session = json_get_str(json_get(rec, "run"), "session");
	char *file = archive_file(json_get(rec, "subject"));
	size_t id = intern_target(a, file);
	struct use u = {session ? hash_session(session) : 0, id};

	free(file);
	append_to_target(a, id, rec, make_key(rec, a->equal));
	if (!session || hashset_add(a->paired, mix_hash(u.session, id)))
		return;
	*MEM_ADD(a->uses, a->nuses, a->usecap) = u;
}

static void
leave_out(struct adding *a, const struct json *rec)
{
	intern_id(a->others, record_type(rec));
	a->left_out++;
}

/* Adds a record to its file, and takes it. */
static void
dispatch_record(struct adding *a, struct json *rec)
{
	const char *session = json_get_str(rec, "session");

	if (record_is(rec, "profile"))
		stacks_keep(rec);
	if (record_is(rec, "commit"))
		append_to_target(a, intern_target(a, ARCHIVE_COMMITS), rec,
		    make_key(rec, a->equal));
	else if (record_is(rec, "env") && session) {
		*MEM_ADD(a->envs, a->nenvs, a->envcap) =
		    (struct env){hash_session(session), rec};
		return;
	} else if (record_is(rec, "run") || record_is(rec, "summary") ||
	    (json_get(rec, "subject") &&
		(record_is(rec, "profile") || record_is(rec, "build"))))
		add_measured(a, rec);
	else
		leave_out(a, rec);
	json_free(rec);
}

static void
add_envs(struct adding *a)
{
	for (size_t i = 0; i < a->nenvs; i++) {
		const struct env *e = &a->envs[i];
		bool any = false;

		for (size_t k = 0; k < a->nuses; k++) {
			if (a->uses[k].session != e->session)
				continue;
			append_to_target(a, a->uses[k].target, e->rec,
			    make_key(e->rec, a->equal));
			any = true;
		}
		if (!any)
			leave_out(a, e->rec);
	}
}

static void
report_added(const struct adding *a, size_t files, size_t added)
{
	struct str s = {0};

	err_say("%zu record%s added to %zu file%s, %zu there already", added,
	    num_plural((double)added), files, num_plural((double)files),
	    a->present);
	if (!a->left_out)
		return;
	for (size_t i = 0; i < intern_count(a->others); i++)
		str_printf(
		    &s, "%s%s", i ? ", " : "", intern_text(a->others, i));
	err_say("%zu record%s without a commit left out: %s", a->left_out,
	    num_plural((double)a->left_out), s.s);
	str_free(&s);
}

static void
read_file(struct adding *a, const char *const *file, size_t n)
{
	struct jsonl *in = jsonl_open(file, n);
	struct json *rec;
	int got;

	hashset_free(a->equal);
	a->equal = hashset_new();
	while ((got = record_next(in, &rec)) != 0)
		if (got < 0)
			a->rc = -1;
		else
			dispatch_record(a, rec);
	jsonl_close(in);
}

static void
write_all(struct adding *a, bool quiet)
{
	size_t changed = 0, added = 0;

	for (size_t i = 0; i < a->n; i++) {
		struct target *t = &a->v[i];

		if (!t->added)
			continue;
		str_addn(&t->was, t->more.s, t->more.len);
		if (tempfile_write(t->path, t->was.s, t->was.len) < 0) {
			a->rc = -1;
			continue;
		}
		changed++;
		added += t->added;
	}
	if (!quiet)
		report_added(a, changed, added);
}

static void
free_adding(struct adding *a)
{
	for (size_t i = 0; i < a->n; i++) {
		free(a->v[i].path);
		str_free(&a->v[i].was);
		str_free(&a->v[i].more);
		hashset_free(a->v[i].known);
	}
	for (size_t i = 0; i < a->nenvs; i++)
		json_free(a->envs[i].rec);
	free(a->v);
	free(a->envs);
	free(a->uses);
	intern_free(a->files);
	intern_free(a->others);
	hashset_free(a->paired);
	hashset_free(a->equal);
}

/*
 * Adds runs, summaries, profiles and builds to the file of their subject, env
 * records to the files of the runs of their session, and commit records to
 * ARCHIVE_COMMITS. Records that are there are not added again; runs are
 * compared by the keys of vkb-pgpush(1), others as a whole. n = 0: reads stdin.
 * Returns -1, after reporting it, if something could not be read or written;
 * the rest is added.
 */
static int
adding_files(const char *dir, const char *const *files, size_t n, bool quiet)
{
	struct adding a = {.dir = dir,
	    .files = intern_new(),
	    .others = intern_new(),
	    .paired = hashset_new()};

	for (size_t i = 0; i < n; i++)
		read_file(&a, files + i, 1);
	if (!n)
		read_file(&a, NULL, 0);
	add_envs(&a);
	write_all(&a, quiet);
	free_adding(&a);
	return a.rc;
}

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
		rc = inputs_read(c->archive->v[c->at[i]].path, &text);
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
