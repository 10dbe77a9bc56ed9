/*
 * Tracks in PostgreSQL or a file which commits of a branch are measured, with
 * which configuration and by whom. Reads a git repository and a configuration;
 * writes 'commit' records, or the rows.
 */
#include "err.h"
#include "gitrepo.h"
#include "mem.h"
#include "opt.h"
#include "pg.h"
#include "sink.h"
#include "str.h"
#include "vkb-trackcommits/footprint.h"
#include "vkb-trackcommits/lineage.h"
#include "vkb-trackcommits/hold.h"
#include "vkb-trackcommits/operation.h"
#include "vkb-trackcommits/store.h"
#include "vkb-trackcommits/work.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#define TRIES 4

#define AT(f) offsetof(struct track_options, f)

static const struct opt table[] = {
    {0, "repo", OPT_STR, AT(repo), "DIR",
	.help = "git repository, or a folder of its work tree"},
    {0, "branch", OPT_STR, AT(branch), "REF",
	.help = "branch to measure (unstable)"},
    {0, "since", OPT_STR, AT(since), "REF",
	.help = "leave out the history of REF"},
    {0, "first-parent", OPT_FLAG, AT(first_parent),
	.help = "leave out the commits of merged branches"},
    {0, "order", OPT_CHOICE, AT(order), "HOW",
	.choices = "newest|oldest|bisect", .help = "which commit comes first"},
    {0, "max-commits", OPT_INT, AT(most), "N", .min = 0, .max = 1e9,
	.help = "print or claim at most N commits (3)"},
    {0, "config-file", OPT_STR, AT(config), "FILE",
	.help = "configuration to measure with"},
    {0, "cluster-mode-filter", OPT_CHOICE, AT(mode), "BOOL",
	.choices = "false|true",
	.help = "replace the configuration's cluster_mode"},
    {0, "skip-config-set", OPT_FLAG, AT(skip_config_set),
	.help = "ignore the configuration's config_sets"},
    {0, "skip-profiling", OPT_FLAG, AT(skip_profiling),
	.help = "ignore the configuration's profiling_sets"},
    {0, "disable-subset-detection", OPT_FLAG, AT(no_subset),
	.help = "ignore results of configurations that cover this one"},
    {0, "architecture", OPT_STR, AT(arch), "NAME",
	.help = "architecture of the machine that measures (uname -m)"},
    {0, "database", OPT_STR, AT(database), "CONNINFO",
	.help = "database name, settings or URI, without a password"},
    {0, "table", OPT_STR, AT(table), "ID",
	.help = "core (default), tag, or the name of a module"},
    {0, "file", OPT_STR, AT(file), "FILE",
	.help = "use FILE instead of a database"},
    {0, "owner", OPT_STR, AT(owner), "NAME",
	.help = "owner of the claims (HOST:SESSION)"},
    {0, "lease", OPT_DURATION, AT(lease), "TIME", .min = 1, .max = 1e8,
	.help = "end a claim after TIME unless it is prolonged (1h)"},
    {0, "attempts", OPT_INT, AT(attempts), "N", .min = 1, .max = 1e9,
	.help = "claim a commit that fails up to N times (3)"},
    {0, "resume", OPT_FLAG, AT(resume),
	.help = "first claim what the owner already holds"},
    {0, "again", OPT_FLAG, AT(again),
	.help = "also claim or mark named commits that are complete or failed"},
    {0, "status", OPT_CHOICE, AT(status), "STATUS",
	.choices = "in_progress|complete|failed",
	.help = "status to set with mark, or to print with query"},
    {0, "reason", OPT_STR, AT(reason), "TEXT", .help = "reason of the failure"},
    {0, "list-configs", OPT_FLAG, AT(list_configs),
	.help = "print configurations instead of rows (query)"},
    {'f', "format", OPT_CHOICE, AT(format), "FORMAT",
	.choices = "jsonl|shas|text", .help = "output format"},
    {0}};

static const struct opt_prog prog = {.name = "vkb-trackcommits",
    .operands = "OPERATION [COMMIT ...] [-- COMMAND ...]",
    .purpose = "Track which commits are measured, and by whom.",
    .table = table};

/* Runs the operation in one transaction. *again: it failed, but may succeed if
 * repeated. */
static int
try_operation(struct session *s, const struct operation *v, bool *again)
{
	const struct track_options *o = s->o;
	struct store *store = o->file
	    ? store_open_file(o->file)
	    : store_open_table(o->database, o->table ? o->table : "core");
	int rc;

	*again = false;
	if (!store)
		return -1;
	str_clear(&s->out.s);
	s->work.store = store;
	rc = store->ops->begin(
	    store, v->traits & OPERATION_ALONE, &s->work.rules.now);
	if (rc == 0 && (rc = v->run(s)) >= 0 && store->ops->commit(store) < 0)
		rc = -1;
	*again = rc < 0 && store->pg && pg_transient(store->pg);
	store->ops->close(store);
	return rc;
}

static int
run_operation(struct session *s, const struct operation *v)
{
	bool again = !(v->traits & OPERATION_NO_STORE);
	int rc = again ? -1 : v->run(s);

	for (int i = 0; again && i < TRIES; i++) {
		if (i)
			err_say("trying again: nothing was changed so far");
		rc = try_operation(s, v, &again);
	}
	if (rc < 0)
		str_clear(&s->out.s);
	return sink_close(&s->out) < 0 ? -1 : rc;
}

/*
 * Adds a commit of the command line. A full id is accepted without a repository
 * or if the repository does not have it, because rows outlive commits; not if
 * 'anew', for a claim, which needs the commit.
 */
static int
add_named_commit(struct session *s, const char *text, bool anew)
{
	bool whole = strlen(text) + 1 == GITREPO_ID &&
	    strspn(text, "0123456789abcdef") + 1 == GITREPO_ID;
	char id[GITREPO_ID];
	struct json *rec;
	double time;

	if (whole && !anew &&
	    (!s->repo || gitrepo_find(s->repo, text, id) == 0)) {
		work_commits_add(&s->named, text, 0, NULL);
		return 0;
	}
	if (!s->repo)
		return err_fail("'%s' is not a full commit id; other names "
				"need the option '--repo'",
		    text);
	if (lineage_find_id(s->repo, text, id) < 0 ||
	    !(rec = lineage_make_record(
		  s->repo, id, strcmp(text, id) == 0 ? NULL : text, &time)))
		return -1;
	work_commits_add(&s->named, id, time, rec);
	return 0;
}

static int
prepare_session(
    struct session *s, const struct operation *v, char **names, size_t n)
{
	const struct track_options *o = s->o;
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
		if (add_named_commit(s, names[i], v->run == operation_claim) <
		    0)
			return -1;
	if (v->traits & OPERATION_HISTORY && !n)
		return lineage_read(
		    &s->history, s->repo, o->branch, o->since, o->first_parent);
	return 0;
}

static int
run_session(const struct track_options *o, const struct operation *v,
    char **names, size_t n, const char *owner, const char *arch)
{
	struct session s = {.o = o, .out = {.fd = STDOUT_FILENO}};
	int rc;

	s.work = (struct work){.rules = {.lease = o->lease,
				   .owner = owner,
				   .attempts = o->attempts,
				   .again = o->again,
				   .resume = o->resume},
	    .architecture = v->traits & OPERATION_ANY_ARCH ? o->arch : arch,
	    .subset = !o->no_subset,
	    .order = strcmp(o->order, "oldest") == 0 ? ORDER_OLDEST
		: strcmp(o->order, "bisect") == 0    ? ORDER_BISECT
						     : ORDER_NEWEST};
	rc = prepare_session(&s, v, names, n);
	if (rc == 0)
		rc = run_operation(&s, v);
	footprint_free(&s.config);
	lineage_free(&s.history);
	work_commits_free(&s.named);
	gitrepo_free(s.repo);
	str_free(&s.out.s);
	return rc;
}

/* Runs the command of heartbeat; this program, with its arguments up to "--",
 * prolongs the claim. */
static int
hold_claim(const struct track_options *o, const struct opt_args *args,
    const char *owner)
{
	size_t n = (size_t)(args->rest - o->argv) - 1;
	const char **beat = mem_array(n + 3, sizeof *beat);
	char *self = realpath("/proc/self/exe", NULL);
	int rc;

	beat[0] = self ? self : o->words[0];
	beat[1] = "--owner"; /* the default there could differ */
	beat[2] = owner;
	for (size_t i = 1; i < n; i++)
		beat[i + 2] = o->words[i];
	rc = hold_run_command(beat, (const char *const *)args->rest, o->lease);
	free(beat);
	free(self);
	return rc;
}

/* Returns what is wrong with the options, or NULL. */
static const char *
find_conflict(const struct track_options *o, const struct operation *v,
    const struct opt_args *args)
{
	size_t n = args->n - 1;
	bool rows = v->run == operation_query,
	     configs = v->run == operation_list_configs;

	if (args->rest && (v->run != operation_prolong || !args->nrest))
		return "only heartbeat takes a COMMAND";
	if (v->traits & OPERATION_NO_STORE &&
	    (o->file || o->database || o->table))
		return "this operation takes no --file, --database or --table";
	if (o->file && (o->database || o->table))
		return "--file excludes --database and --table";
	if (n &&
	    !(v->traits & (OPERATION_NEEDS_COMMITS | OPERATION_MAY_COMMITS)))
		return "this operation takes no COMMIT";
	if (!n && v->traits & OPERATION_NEEDS_COMMITS)
		return "COMMIT is missing";
	if (!o->repo && v->traits & OPERATION_NEEDS_REPO)
		return "option --repo is missing";
	if (!o->config && v->traits & OPERATION_NEEDS_CONFIG)
		return "option --config-file is missing";
	if (v->run == operation_mark && !o->status)
		return "option --status is missing";
	if (o->reason && (!o->status || strcmp(o->status, "failed") != 0))
		return "--reason is for --status failed";
	if (o->again && !n)
		return "--again needs a COMMIT";
	if (o->format && strcmp(o->format, "text") == 0 && !rows && !configs)
		return "this operation takes no --format text";
	if (o->format && strcmp(o->format, "shas") == 0 &&
	    (configs || (rows && o->list_configs)))
		return "--format shas cannot print configurations";
	return NULL;
}

static char *
make_default_owner(void)
{
	const char *env = getenv("VKB_OWNER");
	struct utsname u;

	if (env && *env)
		return mem_str(env);
	uname(&u);
	return mem_printf("%s:%ld", u.nodename, (long)getsid(0));
}

/* The store accepts only non-empty UTF-8. */
static int
check_text(const char *option, const char *s)
{
	if (!s || (*s && str_utf8(s, strlen(s))))
		return 0;
	return err_fail("option '--%s': '%s' is empty or not UTF-8", option, s);
}

static int
run_trackcommits(void *dst, struct opt_args *args)
{
	const struct track_options *o = dst;
	const struct operation *v = args->n ? operation_find(args->v[0]) : NULL;
	const char *why;
	struct utsname u;
	char *owner;
	int rc;

	why = !args->n ? "OPERATION is missing"
	    : !v       ? "unknown OPERATION"
		       : find_conflict(o, v, args);
	if (why)
		return opt_usage(&prog, why);
	if (check_text("owner", o->owner) < 0 ||
	    check_text("architecture", o->arch) < 0 ||
	    check_text("reason", o->reason) < 0)
		return -1;
	/* The column of the Python tool is VARCHAR(50). */
	if (o->arch && strlen(o->arch) > 50)
		return err_fail(
		    "option '--architecture': '%s' has more than 50 bytes",
		    o->arch);
	owner = o->owner ? mem_str(o->owner) : make_default_owner();
	uname(&u);
	rc = args->rest ? hold_claim(o, args, owner)
			: run_session(o, v, args->v + 1, args->n - 1, owner,
			      o->arch ? o->arch : u.machine);
	free(owner);
	return rc;
}

int
main(int argc, char **argv)
{
	struct track_options o = {.branch = "unstable",
	    .order = "newest",
	    .lease = 3600,
	    .most = 3,
	    .attempts = 3,
	    .argv = argv};
	int rc;

	o.words = mem_array((size_t)argc + 1, sizeof *o.words);
	memcpy(o.words, argv, (size_t)argc * sizeof *o.words);
	rc = opt_main(&prog, argc, argv, &o, run_trackcommits);
	free(o.words);
	return rc;
}
