/*
 * vkb-trackcommits: which commits of a branch are measured with which
 * configuration, and by whom, in PostgreSQL or a file. Reads a git repository
 * and a configuration; writes commit records, or the rows.
 */
#include "err.h"
#include "gitrepo.h"
#include "json.h"
#include "mem.h"
#include "opt.h"
#include "sink.h"
#include "str.h"
#include "vkb-trackcommits/footprint.h"
#include "vkb-trackcommits/lineage.h"
#include "vkb-trackcommits/hold.h"
#include "vkb-trackcommits/listing.h"
#include "vkb-trackcommits/store.h"
#include "vkb-trackcommits/work.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#define TRIES 4

struct opts {
	const char *repo, *branch, *since, *order;
	const char *config, *mode;
	const char *database, *table, *file;
	const char *arch, *owner, *status, *reason, *format;
	double lease;
	long long most, attempts;
	bool first_parent, no_subset, skip_config_set, skip_profiling;
	bool again, resume, list_configs;
	char **argv, **words; /* opt_parse moves those; these stay */
};

#define AT(f) offsetof(struct opts, f)

static const struct opt table[] = {
    {0, "repo", OPT_STR, AT(repo), "DIR",
	.help = "the repository, or a folder of its work tree"},
    {0, "branch", OPT_STR, AT(branch), "REF",
	.help = "whose history is measured (unstable)"},
    {0, "since", OPT_STR, AT(since), "REF",
	.help = "only commits that are not in its history"},
    {0, "first-parent", OPT_FLAG, AT(first_parent),
	.help = "without the commits that were merged"},
    {0, "order", OPT_CHOICE, AT(order), "HOW",
	.choices = "newest|oldest|bisect", .help = "which commit comes first"},
    {0, "max-commits", OPT_INT, AT(most), "N", .min = 0, .max = 1e9,
	.help = "at most so many (3)"},
    {0, "config-file", OPT_STR, AT(config), "FILE",
	.help = "the configuration that they are measured with"},
    {0, "cluster-mode-filter", OPT_CHOICE, AT(mode), "BOOL",
	.choices = "false|true", .help = "as if it had this mode alone"},
    {0, "skip-config-set", OPT_FLAG, AT(skip_config_set),
	.help = "as if it had no config_sets"},
    {0, "skip-profiling", OPT_FLAG, AT(skip_profiling),
	.help = "as if it had no profiling_sets"},
    {0, "disable-subset-detection", OPT_FLAG, AT(no_subset),
	.help = "what a larger configuration has done is not done"},
    {0, "architecture", OPT_STR, AT(arch), "NAME",
	.help = "of the machine that measures (uname -m)"},
    {0, "database", OPT_STR, AT(database), "CONNINFO",
	.help = "name, settings or URI; without a password"},
    {0, "table", OPT_STR, AT(table), "ID",
	.help = "core (default), tag, or the name of a module"},
    {0, "file", OPT_STR, AT(file), "FILE", .help = "instead of a database"},
    {0, "owner", OPT_STR, AT(owner), "NAME",
	.help = "who claims; default host and session"},
    {0, "lease", OPT_DURATION, AT(lease), "TIME", .min = 1, .max = 1e8,
	.help = "a claim that is not prolonged ends after it (1h)"},
    {0, "attempts", OPT_INT, AT(attempts), "N", .min = 1, .max = 1e9,
	.help = "a failed commit is taken up to N times (3)"},
    {0, "resume", OPT_FLAG, AT(resume),
	.help = "claim first what the owner holds already"},
    {0, "again", OPT_FLAG, AT(again),
	.help = "also named commits that are complete or failed"},
    {0, "status", OPT_CHOICE, AT(status), "STATUS",
	.choices = "in_progress|complete|failed",
	.help = "what mark makes of them; what query shows"},
    {0, "reason", OPT_STR, AT(reason), "TEXT", .help = "why it failed"},
    {0, "list-configs", OPT_FLAG, AT(list_configs),
	.help = "query: as configs"},
    {'f', "format", OPT_CHOICE, AT(format), "FORMAT",
	.choices = "jsonl|shas|text", .help = "how commits and rows are shown"},
    {0}};

static const struct opt_prog prog = {"vkb-trackcommits",
    "OPERATION [COMMIT ...] [-- COMMAND ...]",
    "Tracks which commits are measured.", table};

/* What a run of the program needs; each part only where it is asked for. */
struct session {
	const struct opts *o;
	struct gitrepo *repo;
	struct footprint config;
	bool has_config;
	struct lineage history;
	struct commits named;
	struct work work;
	struct sink out;
};

typedef int operation(struct session *);

/* --- what is printed */

static bool
is_format(const struct session *s, const char *name)
{
	return s->o->format && strcmp(s->o->format, name) == 0;
}

/* All ids on one line, as the Python tool, or a record each. */
static void
print_commits(struct session *s, const struct commits *c)
{
	for (size_t i = 0; i < c->n; i++) {
		if (is_format(s, "shas")) {
			str_printf(
			    &s->out.s, "%s%s", i ? " " : "", c->v[i].sha);
			continue;
		}
		json_append(&s->out.s, c->v[i].rec);
		str_addc(&s->out.s, '\n');
	}
	if (is_format(s, "shas"))
		str_addc(&s->out.s, '\n');
}

static void
print_rows(struct session *s, const struct rowlist *rows)
{
	struct commits c = {0};

	if (!is_format(s, "shas")) {
		listing_rows(
		    &s->out.s, rows, s->work.rules.now, !is_format(s, "jsonl"));
		return;
	}
	for (size_t i = 0; i < rows->n; i++)
		commits_add(&c, rows->v[i].sha, 0, NULL);
	print_commits(s, &c);
	commits_free(&c);
}

/* --- the operations, within a transaction */

static enum rules_status
status_of(const char *name)
{
	enum rules_status i = RULES_IN_PROGRESS;

	if (!name)
		return RULES_NONE;
	while (strcmp(rules_names[i], name) != 0)
		i++;
	return i;
}

static int
do_init(struct session *s)
{
	(void)s;
	return 0;
}

static int
next(struct session *s, bool claim)
{
	struct commits found = {0};
	int rc =
	    work_next(&s->work, &s->history, (size_t)s->o->most, claim, &found);

	if (rc == 0)
		print_commits(s, &found);
	commits_free(&found);
	return rc;
}

static int
do_determine(struct session *s)
{
	return next(s, false);
}

static int
do_history(struct session *s)
{
	const struct lineage *h = &s->history;
	struct commits all = {0};
	struct json *rec;
	double time;
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < h->n; i++) {
		rec = lineage_record(h->repo, h->ids[i], h->branch, &time);
		if (rec)
			commits_add(&all, h->ids[i], time, rec);
		else
			rc = -1;
	}
	if (rc == 0)
		print_commits(s, &all);
	commits_free(&all);
	return rc;
}

static int
do_claim(struct session *s)
{
	struct commits taken = {0};
	int rc;

	if (!s->named.n)
		return next(s, true);
	rc = work_claim(&s->work, &s->named, &taken);
	if (rc >= 0 && taken.n)
		print_commits(s, &taken);
	commits_free(&taken);
	return rc;
}

static int
do_mark(struct session *s)
{
	return work_mark(
	    &s->work, &s->named, status_of(s->o->status), s->o->reason);
}

static int
do_heartbeat(struct session *s)
{
	return work_prolong(&s->work, &s->named);
}

static int
do_cleanup(struct session *s)
{
	size_t n;
	int rc = work_cleanup(&s->work, &n);

	if (rc == 0)
		err_say(
		    "%zu claim%s given back", n, n == 1 ? " was" : "s were");
	return rc;
}

static int
do_configs(struct session *s)
{
	struct configs configs = {0};
	int rc = s->work.store->ops->configs(s->work.store, &configs);

	if (rc == 0)
		listing_configs(&s->out.s, &configs, !is_format(s, "jsonl"));
	configs_free(&configs);
	return rc;
}

static int
do_query(struct session *s)
{
	struct wanted wanted = {.config = s->work.config,
	    .architecture = s->o->arch,
	    .owner = s->o->owner,
	    .status = status_of(s->o->status)};
	struct store *store = s->work.store;
	struct rowlist rows = {0};
	int rc = 0;

	if (s->o->list_configs)
		return do_configs(s);
	for (size_t i = 0; rc == 0 && i < s->named.n; i++) {
		wanted.sha = s->named.v[i].sha;
		rc = store->ops->read(store, &wanted, &rows);
	}
	if (!s->named.n)
		rc = store->ops->read(store, &wanted, &rows);
	if (rc == 0)
		print_rows(s, &rows);
	rowlist_free(&rows);
	return rc;
}

/* --- the way to them */

enum {
	NEEDS_CONFIG = 1,
	NEEDS_REPO = 2,
	NEEDS_COMMITS = 4,
	ALONE = 8,
	MAY_COMMITS = 16,
	HISTORY = 32,
	ANY_ARCH = 64,
	NO_STORE = 128
};

static const struct verb {
	const char *name;
	operation *run;
	int traits;
} verbs[] = {
    {"init", do_init, ALONE},
    {"history", do_history, NEEDS_REPO | HISTORY | NO_STORE},
    {"determine", do_determine, NEEDS_REPO | HISTORY},
    {"claim", do_claim,
	NEEDS_CONFIG | NEEDS_REPO | MAY_COMMITS | HISTORY | ALONE},
    {"mark", do_mark, NEEDS_CONFIG | NEEDS_COMMITS | ALONE},
    {"heartbeat", do_heartbeat, MAY_COMMITS | ANY_ARCH},
    {"cleanup", do_cleanup, ANY_ARCH},
    {"query", do_query, MAY_COMMITS | ANY_ARCH},
    {"configs", do_configs, 0},
    {NULL, NULL, 0},
};

static const struct verb *
verb_of(const char *name)
{
	for (const struct verb *v = verbs; v->name; v++)
		if (strcmp(v->name, name) == 0)
			return v;
	return NULL;
}

/* One try: all of it or nothing. *again: it may go well then. */
static int
attempt(struct session *s, const struct verb *v, bool *again)
{
	const struct opts *o = s->o;
	struct store *store = o->file
	    ? store_file(o->file)
	    : store_table(o->database, o->table ? o->table : "core");
	int rc;

	*again = false;
	if (!store)
		return -1;
	str_clear(&s->out.s);
	s->work.store = store;
	rc = store->ops->begin(store, v->traits & ALONE, &s->work.rules.now);
	if (rc == 0 && (rc = v->run(s)) >= 0 && store->ops->commit(store) < 0)
		rc = -1;
	*again = rc < 0 && store->ops->transient(store);
	store->ops->close(store);
	return rc;
}

static int
operate(struct session *s, const struct verb *v)
{
	bool again = !(v->traits & NO_STORE);
	int rc = again ? -1 : v->run(s);

	for (int i = 0; again && i < TRIES; i++) {
		if (i)
			err_say("trying again: nothing was changed so far");
		rc = attempt(s, v, &again);
	}
	if (rc < 0)
		str_clear(&s->out.s);
	return sink_close(&s->out) < 0 ? -1 : rc;
}

/*
 * The commits that are named. A row may outlive its commit: a whole id names
 * that without the repository, and where it has vanished from there.
 */
static int
name(struct session *s, const char *text, bool anew)
{
	bool whole = strlen(text) + 1 == GITREPO_ID &&
	    strspn(text, "0123456789abcdef") + 1 == GITREPO_ID;
	char id[GITREPO_ID];
	struct json *rec;
	double time;

	if (whole && !anew &&
	    (!s->repo || gitrepo_find(s->repo, text, id) == 0)) {
		commits_add(&s->named, text, 0, NULL);
		return 0;
	}
	if (!s->repo)
		return err_fail("'%s' is no whole id of a commit; with the "
				"option '--repo' it need not be one",
		    text);
	if (lineage_resolve(s->repo, text, id) < 0 ||
	    !(rec = lineage_record(
		  s->repo, id, strcmp(text, id) == 0 ? NULL : text, &time)))
		return -1;
	commits_add(&s->named, id, time, rec);
	return 0;
}

static int
prepare(struct session *s, const struct verb *v, char **names, size_t n)
{
	const struct opts *o = s->o;
	const struct footprint_changes changes = {
	    o->mode, o->skip_config_set, o->skip_profiling};

	if (o->config) {
		if (footprint_read(&s->config, o->config, &changes) < 0)
			return -1;
		s->work.config = &s->config;
	}
	if (o->repo && !(s->repo = gitrepo_open(o->repo)))
		return -1;
	for (size_t i = 0; i < n; i++)
		if (name(s, names[i], v->run == do_claim) < 0)
			return -1;
	if (v->traits & HISTORY && !n)
		return lineage_read(
		    &s->history, s->repo, o->branch, o->since, o->first_parent);
	return 0;
}

static int
run(const struct opts *o, const struct verb *v, char **names, size_t n,
    const char *owner, const char *arch)
{
	struct session s = {.o = o, .out = {.fd = STDOUT_FILENO}};
	int rc;

	s.work = (struct work){.rules = {.lease = o->lease,
				   .owner = owner,
				   .attempts = o->attempts,
				   .again = o->again,
				   .resume = o->resume},
	    .architecture = v->traits & ANY_ARCH ? o->arch : arch,
	    .subset = !o->no_subset,
	    .order = strcmp(o->order, "oldest") == 0 ? ORDER_OLDEST
		: strcmp(o->order, "bisect") == 0    ? ORDER_BISECT
						     : ORDER_NEWEST};
	rc = prepare(&s, v, names, n);
	if (rc == 0)
		rc = operate(&s, v);
	footprint_free(&s.config);
	lineage_free(&s.history);
	commits_free(&s.named);
	gitrepo_free(s.repo);
	str_free(&s.out.s);
	return rc;
}

/* --- heartbeat with a command */

/* This program with its words up to the "--". */
static int
hold(const struct opts *o, const struct opt_args *args, const char *owner)
{
	size_t n = (size_t)(args->rest - o->argv) - 1;
	const char **beat = mem_array(n + 3, sizeof *beat);
	char *self = realpath("/proc/self/exe", NULL);
	int rc;

	beat[0] = self ? self : o->words[0];
	beat[1] = "--owner"; /* not what the default would be there */
	beat[2] = owner;
	for (size_t i = 1; i < n; i++)
		beat[i + 2] = o->words[i];
	rc = hold_run(beat, (const char *const *)args->rest, o->lease);
	free(beat);
	free(self);
	return rc;
}

/* What does not go together; NULL: all is well. */
static const char *
wrong(const struct opts *o, const struct verb *v, const struct opt_args *args)
{
	size_t n = args->n - 1;
	bool rows = v->run == do_query, configs = v->run == do_configs;

	if (args->rest && (v->run != do_heartbeat || !args->nrest))
		return "-- COMMAND is for heartbeat";
	if (v->traits & NO_STORE && (o->file || o->database || o->table))
		return "this operation has no table";
	if (o->file && (o->database || o->table))
		return "--file excludes --database and --table";
	if (n && !(v->traits & (NEEDS_COMMITS | MAY_COMMITS)))
		return "this operation has no COMMIT";
	if (!n && v->traits & NEEDS_COMMITS)
		return "no COMMIT";
	if (!o->repo && v->traits & NEEDS_REPO)
		return "no --repo";
	if (!o->config && v->traits & NEEDS_CONFIG)
		return "no --config-file";
	if (v->run == do_mark && !o->status)
		return "no --status";
	if (o->reason && (!o->status || strcmp(o->status, "failed") != 0))
		return "--reason is for --status failed";
	if (o->again && !n)
		return "--again wants a COMMIT";
	if (o->format && strcmp(o->format, "text") == 0 && !rows && !configs)
		return "this operation has no --format text";
	if (o->format && strcmp(o->format, "shas") == 0 &&
	    (configs || (rows && o->list_configs)))
		return "configurations have no --format shas";
	return NULL;
}

static char *
default_owner(void)
{
	const char *env = getenv("VKB_OWNER");
	struct utsname u;

	if (env && *env)
		return mem_str(env);
	uname(&u);
	return mem_printf("%s:%ld", u.nodename, (long)getsid(0));
}

/* A text of ours that the store must take. */
static int
check_text(const char *option, const char *s)
{
	if (!s || (*s && str_utf8(s, strlen(s))))
		return 0;
	return err_fail("option '--%s': '%s' is empty or no UTF-8", option, s);
}

/* The column of the Python tool has no room for more. */
static int
check_arch(const char *s)
{
	if (check_text("architecture", s) < 0)
		return -1;
	return s && strlen(s) > 50
	    ? err_fail(
		  "option '--architecture': '%s' has more than 50 bytes", s)
	    : 0;
}

static int
start(void *dst, struct opt_args *args)
{
	const struct opts *o = dst;
	const struct verb *v = args->n ? verb_of(args->v[0]) : NULL;
	const char *why;
	struct utsname u;
	char *owner;
	int rc;

	why = !args->n ? "no OPERATION"
	    : !v       ? "no such OPERATION"
		       : wrong(o, v, args);
	if (why)
		return opt_usage(&prog, why);
	if (check_text("owner", o->owner) < 0 || check_arch(o->arch) < 0 ||
	    check_text("reason", o->reason) < 0)
		return -1;
	owner = o->owner ? mem_str(o->owner) : default_owner();
	uname(&u);
	rc = args->rest ? hold(o, args, owner)
			: run(o, v, args->v + 1, args->n - 1, owner,
			      o->arch ? o->arch : u.machine);
	free(owner);
	return rc;
}

int
main(int argc, char **argv)
{
	struct opts o = {.branch = "unstable",
	    .order = "newest",
	    .lease = 3600,
	    .most = 3,
	    .attempts = 3,
	    .argv = argv};
	int rc;

	o.words = mem_array((size_t)argc + 1, sizeof *o.words);
	memcpy(o.words, argv, (size_t)argc * sizeof *o.words);
	rc = opt_main(&prog, argc, argv, &o, start);
	free(o.words);
	return rc;
}
