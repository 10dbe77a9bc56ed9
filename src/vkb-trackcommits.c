/*
 * Tracks in PostgreSQL or a file which commits of a branch are measured, with
 * which configuration and by whom. Reads a git repository and a configuration;
 * writes 'commit' records, or the rows.
 */
#include "clock.h"
#include "err.h"
#include "gitrepo.h"
#include "halt.h"
#include "json.h"
#include "mem.h"
#include "opt.h"
#include "pg.h"
#include "proc.h"
#include "record.h"
#include "sink.h"
#include "str.h"
#include "table.h"
#include "vkb-trackcommits/footprint.h"
#include "vkb-trackcommits/lineage.h"
#include "vkb-trackcommits/store.h"
#include "vkb-trackcommits/work.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

/* The operations of the program, by name. */
struct track_options {
	const char *repo, *branch, *since, *order;
	const char *config, *mode;
	const char *database, *table, *file;
	const char *arch, *owner, *status, *reason, *format;
	double lease;
	long long most, attempts;
	bool first_parent, no_subset, skip_config_set, skip_profiling;
	bool again, resume, list_configs;
	char **argv, **words; /* opt_parse reorders argv; 'words' is a copy */
};

/* The state of one run; each part is set only if the operation needs it. */
struct session {
	const struct track_options *o;
	struct gitrepo *repo;
	struct footprint config;
	struct lineage history;
	struct commits named;
	struct work work;
	struct sink out;
};

/* Traits. */
enum {
	OPERATION_NEEDS_CONFIG = 1,
	OPERATION_NEEDS_REPO = 2,
	OPERATION_NEEDS_COMMITS = 4,
	OPERATION_ALONE = 8, /* excludes others that are alone */
	OPERATION_MAY_COMMITS = 16,
	OPERATION_HISTORY = 32, /* reads the history unless commits are named */
	OPERATION_ANY_ARCH =
	    64, /* no --architecture: any, not this machine's */
	OPERATION_NO_STORE = 128,
	OPERATION_MAKES = 256 /* the store, if there is none */
};

struct operation {
	const char *name;
	int (*run)(struct session *); /* exit status, or -1: error reported */
	int traits;
};

static bool
is_format(const struct session *s, const char *name)
{
	return s->o->format && strcmp(s->o->format, name) == 0;
}

static void
print_id(struct session *s, const char *sha, size_t i)
{
	str_printf(&s->out.s, "%s%s", i ? " " : "", sha);
}

/* --- what they print */

/* Takes the record. */
static void
append_record(struct str *out, struct json *rec)
{
	json_append_line(out, rec);
	json_free(rec);
}

/* Adds "2026-03-02 08:00:00", or "-" if v is 0. */
static void
add_time_cell(struct table *t, double v)
{
	char iso[CLOCK_ISO];

	if (!(v > 0)) {
		table_cell(t, "-");
		return;
	}
	clock_iso_of(iso, v);
	iso[strlen("2026-03-02T08:00:00")] = '\0';
	iso[strlen("2026-03-02")] = ' ';
	table_cell(t, iso);
}

static void
add_short_cell(struct table *t, const char *s, size_t most)
{
	table_take(t, s ? mem_strn(s, strnlen(s, most)) : mem_str("-"));
}

static void
add_row_cells(struct table *t, const struct row *r, double now)
{
	add_short_cell(t, r->sha, 12);
	add_time_cell(t, r->time);
	table_cell(t, rules_names[r->status]);
	table_cell(t, r->owner ? r->owner : "-");
	if (r->status == RULES_IN_PROGRESS && rules_lease_end(r) <= now)
		table_cell(t, "ended");
	else
		add_time_cell(
		    t, r->status == RULES_IN_PROGRESS ? rules_lease_end(r) : 0);
	table_take(t, mem_printf("%lld", r->attempts));
	table_cell(t, r->architecture ? r->architecture : "-");
	add_short_cell(t, r->config_hash, 8);
	table_cell(t, r->reason ? r->reason : "");
}

/* Prints rows as a table ('text'), all ids on one line, as the Python tool
 * does, or a record each. */
static void
print_rows(struct session *s, const struct rowlist *rows)
{
	struct table *t;

	if (is_format(s, "shas")) {
		for (size_t i = 0; i < rows->n; i++)
			print_id(s, rows->v[i].sha, i);
		str_addc(&s->out.s, '\n');
		return;
	}
	if (is_format(s, "jsonl")) {
		for (size_t i = 0; i < rows->n; i++) {
			struct json *rec = record_new("track");

			store_fill_record(rec, &rows->v[i]);
			append_record(&s->out.s, rec);
		}
		return;
	}
	t = table_new();
	table_titles(t,
	    "commit|time|status|owner|lease until|taken|architecture|config|"
	    "reason");
	for (size_t i = 0; i < rows->n; i++)
		add_row_cells(t, &rows->v[i], s->work.rules.now);
	table_print(t, &s->out.s, false);
	table_free(t);
}

static struct json *
make_config_record(const struct config *c)
{
	struct json *rec = record_new("track_config");

	json_set_str(rec, "config_hash", c->hash);
	if (c->text)
		json_set(rec, "config",
		    json_parse(c->text, strlen(c->text), NULL, NULL));
	for (size_t i = RULES_IN_PROGRESS; i <= RULES_FAILED; i++)
		json_set_num(rec, rules_names[i], (double)c->counts[i]);
	return rec;
}

static void
print_config_table(struct str *out, const struct configs *c)
{
	struct table *t = table_new();

	table_titles(t, "config|in_progress|complete|failed|content");
	for (size_t i = 0; i < c->n; i++) {
		add_short_cell(t, c->v[i].hash, 8);
		for (size_t k = RULES_IN_PROGRESS; k <= RULES_FAILED; k++)
			table_take(t, mem_printf("%lld", c->v[i].counts[k]));
		add_short_cell(t, c->v[i].text, 60);
	}
	table_print(t, out, false);
	table_free(t);
}

static void
print_commits(struct session *s, const struct commits *c)
{
	for (size_t i = 0; i < c->n; i++)
		if (is_format(s, "shas"))
			print_id(s, c->v[i].sha, i);
		else
			append_record(&s->out.s, json_dup(c->v[i].rec));
	if (is_format(s, "shas"))
		str_addc(&s->out.s, '\n');
}

/* --- the operations, which run within a transaction */

static int
do_nothing(struct session *s)
{
	(void)s;
	return 0;
}

static int
find_next(struct session *s, bool claim)
{
	struct commits found = {0};
	int rc = work_find_next(
	    &s->work, &s->history, (size_t)s->o->most, claim, &found);

	if (rc == 0)
		print_commits(s, &found);
	work_commits_free(&found);
	return rc;
}

static int
determine_commits(struct session *s)
{
	return find_next(s, false);
}

static int
list_history(struct session *s)
{
	const struct lineage *h = &s->history;
	struct commits all = {0};
	struct json *rec;
	double time;
	int rc;

	for (size_t i = 0; i < h->n; i++) {
		rec = lineage_make_record(h->repo, h->ids[i], h->branch, &time);
		if (!rec)
			break;
		work_commits_add(&all, h->ids[i], time, rec);
	}
	rc = all.n == h->n ? 0 : -1;
	if (rc == 0)
		print_commits(s, &all);
	work_commits_free(&all);
	return rc;
}

/* Operations that have options of their own. */
static int
operation_claim(struct session *s)
{
	struct commits taken = {0};
	int rc;

	if (!s->named.n)
		return find_next(s, true);
	rc = work_change(&s->work, &s->named, RULES_IN_PROGRESS, NULL, &taken);
	if (rc >= 0 && taken.n)
		print_commits(s, &taken);
	work_commits_free(&taken);
	return rc;
}

static int
operation_mark(struct session *s)
{
	return work_change(&s->work, &s->named, rules_find_status(s->o->status),
	    s->o->reason, NULL);
}

static int
operation_prolong(struct session *s)
{
	return work_prolong(&s->work, &s->named);
}

static int
give_back_claims(struct session *s)
{
	size_t n;
	int rc = work_drop_claims(&s->work, &n);

	if (rc == 0)
		err_say(
		    "%zu claim%s given back", n, n == 1 ? " was" : "s were");
	return rc;
}

static int
operation_list_configs(struct session *s)
{
	struct configs configs = {0};
	int rc = s->work.store->ops->configs(s->work.store, &configs);

	for (size_t i = 0; i < configs.n && is_format(s, "jsonl"); i++)
		append_record(&s->out.s, make_config_record(&configs.v[i]));
	if (rc == 0 && !is_format(s, "jsonl"))
		print_config_table(&s->out.s, &configs);
	store_configs_free(&configs);
	return rc;
}

static int
operation_query(struct session *s)
{
	struct wanted wanted = {.config = s->work.config,
	    .architecture = s->o->arch,
	    .owner = s->o->owner,
	    .status = rules_find_status(s->o->status)};
	struct store *store = s->work.store;
	struct rowlist rows = {0};
	int rc = 0;

	if (s->o->list_configs)
		return operation_list_configs(s);
	for (size_t i = 0; rc == 0 && i < s->named.n; i++) {
		wanted.sha = s->named.v[i].sha;
		rc = store->ops->read(store, &wanted, &rows);
	}
	if (!s->named.n)
		rc = store->ops->read(store, &wanted, &rows);
	if (rc == 0)
		print_rows(s, &rows);
	store_rows_free(&rows);
	return rc;
}

static const struct operation operations[] = {
    {"init", do_nothing, OPERATION_ALONE | OPERATION_MAKES},
    {"history", list_history,
	OPERATION_NEEDS_REPO | OPERATION_HISTORY | OPERATION_NO_STORE},
    {"determine", determine_commits,
	OPERATION_NEEDS_REPO | OPERATION_HISTORY | OPERATION_MAKES},
    {"claim", operation_claim,
	OPERATION_NEEDS_CONFIG | OPERATION_NEEDS_REPO | OPERATION_MAY_COMMITS |
	    OPERATION_HISTORY | OPERATION_ALONE | OPERATION_MAKES},
    {"mark", operation_mark,
	OPERATION_NEEDS_CONFIG | OPERATION_NEEDS_COMMITS | OPERATION_ALONE |
	    OPERATION_MAKES},
    {"heartbeat", operation_prolong,
	OPERATION_MAY_COMMITS | OPERATION_ANY_ARCH},
    {"cleanup", give_back_claims, OPERATION_ANY_ARCH},
    {"query", operation_query, OPERATION_MAY_COMMITS | OPERATION_ANY_ARCH},
    {NULL, NULL, 0},
};

/* Or NULL. */
static const struct operation *
operation_find(const char *name)
{
	for (const struct operation *v = operations; v->name; v++)
		if (strcmp(v->name, name) == 0)
			return v;
	return NULL;
}

/* Runs a command while its claim is held. */

#define GRACE_MS 10000

struct hold {
	const char *const *heartbeat; /* its arguments */
	struct proc *beat, *command;
	struct halt *halt;
	int64_t lease; /* ns */
	int64_t next;  /* time of the next heartbeat, ns */
	int64_t end;   /* end of the claim, ns */
	int64_t begun; /* start of the running heartbeat, ns */
};

static int
start_beat(struct hold *h)
{
	const struct proc_spec spec = {
	    .argv = h->heartbeat, .death_signal = SIGKILL};

	h->begun = clock_ns();
	h->next = h->begun + h->lease / 3;
	h->beat = proc_start(&spec);
	return h->beat ? 0 : -1;
}

/* Handles the end of a heartbeat. Returns 0, or -1 if the claim is lost, which
 * the heartbeat has reported. */
static int
end_beat(struct hold *h, int status)
{
	proc_free(h->beat);
	h->beat = NULL;
	if (WIFEXITED(status) && WEXITSTATUS(status) == 1)
		return -1;
	if (status == 0)
		h->end = h->begun + h->lease;
	else /* retry soon */
		h->next = clock_ns() + h->lease / 12;
	return 0;
}

static void
wait_for_event(struct hold *h)
{
	int64_t until = h->beat || h->end < h->next ? h->end : h->next;
	struct pollfd fd[] = {{.fd = halt_fd(h->halt), .events = POLLIN},
	    {.fd = h->beat ? proc_fd(h->beat) : -1, .events = POLLIN},
	    {.fd = h->command ? proc_fd(h->command) : -1, .events = POLLIN}};

	poll(fd, 3, clock_left_ms(until) + 1);
}

/* Starts heartbeats. Returns 0, or -1 if the command must stop: by a signal, or
 * after reporting an error. */
static int
check_claim(struct hold *h)
{
	int status;

	if (halt_reason(h->halt, NULL))
		return -1;
	if (h->beat && proc_wait(h->beat, 0, &status) &&
	    end_beat(h, status) < 0)
		return -1;
	if (clock_ns() >= h->end)
		return err_fail("the claim could not be prolonged in time");
	if (!h->beat && clock_ns() >= h->next)
		return start_beat(h);
	return 0;
}

/* Runs the first heartbeat, which fails if there is no claim. */
static int
first_beat(struct hold *h)
{
	int status;

	if (start_beat(h) < 0)
		return -1;
	while (!proc_wait(h->beat, 0, &status)) {
		h->end = clock_ns() + h->lease;
		wait_for_event(h);
		if (halt_reason(h->halt, NULL))
			return -1;
	}
	return end_beat(h, status) < 0 || status != 0 ? -1 : 0;
}

static int
wait_for_command(struct hold *h)
{
	int status, reason;

	while (!proc_wait(h->command, 0, &status)) {
		if (check_claim(h) == 0) {
			wait_for_event(h);
			continue;
		}
		reason = halt_reason(h->halt, NULL);
		if (reason > 0) {
			proc_signal(h->command, reason);
			proc_wait(h->command, GRACE_MS, NULL);
		}
		proc_stop(h->command, GRACE_MS);
		return 125;
	}
	return proc_exit_status(status);
}

static int
run_under_claim(struct hold *h, const char *const *command)
{
	struct proc_spec spec = {
	    .argv = command, .group = true, .death_signal = SIGKILL};
	int rc = 125;

	if (first_beat(h) < 0)
		return rc;
	h->command = proc_start(&spec);
	if (!h->command)
		rc = errno == ENOENT ? 127 : 126;
	else
		rc = wait_for_command(h);
	proc_free(h->command);
	return rc;
}

/*
 * Runs 'beat', the arguments of a program that prolongs the claim, at once and
 * three times per lease (seconds). After the first success runs 'command' in
 * its own process group. Stops the group if the claim is lost or not prolonged
 * in time, or if this program ends. Returns the exit status: the command's; 128
 * + its signal; 125 if it was stopped or not started; 126 or 127 if it cannot
 * be run.
 */
static int
hold_run_command(
    const char *const *beat, const char *const *command, double lease)
{
	struct hold h = {.heartbeat = beat, .lease = (int64_t)(lease * 1e9)};
	int rc = 125;

	h.halt = halt_open(false);
	if (!h.halt)
		return rc;
	rc = run_under_claim(&h, command);
	proc_free(h.beat);
	halt_finish(h.halt);
	return rc;
}

#define TRIES 4

#define AT(f) offsetof(struct track_options, f)

static const struct opt table[] = {
    {0, "repo", OPT_STR, AT(repo), "DIR",
	.help = "git repository, or a folder of its work tree",
	.group = "Which commits"},
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
	.help = "configuration to measure with",
	.group = "What they are measured with"},
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
	.help = "database name, settings or URI, without a password",
	.group = "Where it is kept"},
    {0, "table", OPT_STR, AT(table), "ID",
	.help = "core (default), tag, or the name of a module"},
    {0, "file", OPT_STR, AT(file), "FILE",
	.help = "use FILE instead of a database"},
    {0, "owner", OPT_STR, AT(owner), "NAME",
	.help = "owner of the claims (HOST:SESSION)", .group = "Who measures"},
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
	.help = "print configurations instead of rows (query)",
	.group = "Output"},
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
	rc = store->ops->begin(store, v->traits & OPERATION_ALONE,
	    v->traits & OPERATION_MAKES, &s->work.rules.now);
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
	bool rows = v->run == operation_query;

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
	if (o->format && strcmp(o->format, "text") == 0 && !rows)
		return "this operation takes no --format text";
	if (o->format && strcmp(o->format, "shas") == 0 && rows &&
	    o->list_configs)
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
