/*
 * vkb-detect: finds the changes in a history of runs or summaries and writes
 * reports or change records. Exit status 1: there is a regression.
 */
#include "changepoint.h"
#include "err.h"
#include "jsonl.h"
#include "num.h"
#include "mem.h"
#include "opt.h"
#include "output.h"
#include "proc.h"
#include "reading.h"
#include "str.h"
#include "vkb-detect/show.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

struct opts {
	const char *metrics, *since, *policy, *database, *table;
	struct opt_list formats;
	long long latest;
};

#define AT(f) offsetof(struct opts, f)
#define EXPORTER "vkb-pgpush"

static const struct opt option_table[] = {
    {'f', "format", OPT_LIST, AT(formats), "FORMAT[:FILE]",
	.help = "write text (default), markdown, issue, jsonl; repeatable"},
    {'m', "metrics", OPT_STR, AT(metrics), "WHAT",
	.help = "judge all, latency, or a list of metrics: A,B"},
    {0, "database", OPT_STR, AT(database), "CONNINFO",
	.help = "read runs from PostgreSQL, as vkb-pgpush --export"},
    {0, "table", OPT_STR, AT(table), "ID",
	.help = "read core (default), tag or a module from PostgreSQL"},
    {0, "since", OPT_STR, AT(since), "COMMIT|DATE",
	.help = "count only regressions at or after this"},
    {0, "policy", OPT_STR, AT(policy), "FILE",
	.help = "read margins, classes and waivers: vkb-policy(5)"},
    {0, "latest", OPT_INT, AT(latest), "N", .min = 1, .max = 1000,
	.help = "compare the newest commit with the N before it"},
    {0}};

static const struct opt_prog program = {.name = "vkb-detect",
    .operands = "[FILE ...]",
    .purpose = "Where did a history change? Exit 1: a regression.",
    .table = option_table};

/* In the order of 'format_names'. */
enum format { FORMAT_TEXT, FORMAT_MARKDOWN, FORMAT_ISSUE, FORMAT_JSONL };

static const char *const format_names[] = {
    "text", "markdown", "issue", "jsonl", NULL};

static int
make_rules(const struct opts *o, struct finding_rules *r)
{
	*r = (struct finding_rules){
	    .metrics = o->metrics, .latest = (size_t)o->latest};
	if (clock_today(r->today, getenv("SOURCE_DATE_EPOCH")) < 0)
		return -1;
	if (o->policy && !(r->policy = policy_read(o->policy)))
		return -1;
	return 0;
}

/* Writes the commit that reverted the regression of a group to a file named by
 * its key. */
static int
write_revert(const struct output *o, const struct branch *b,
    const struct findings *all, size_t group)
{
	size_t at = finding_find_revert(all, group);
	struct output one = *o;
	struct str s = {0};
	char *file;
	int rc;

	if (at == SIZE_MAX)
		return 0;
	one.file = file =
	    mem_printf("%s%s.reverted", o->file, all->groups[group].key);
	str_visible(&s, b->points[at].name);
	str_addc(&s, '\n');
	rc = output_write(&one, &s);
	free(file);
	str_free(&s);
	return rc;
}

/* Writes all issues to one file, or into a folder, each to a file named by its
 * key. */
static int
write_issues(const struct output *o, const struct branch *b,
    const struct findings *all, const struct finding_rules *r)
{
	bool folder = o->file && str_ends(o->file, "/");
	struct str s = {0};
	int rc = 0;

	str_add(&s, "");
	for (size_t i = 0; i < all->ngroups; i++) {
		const struct finding_group *g = &all->groups[i];
		struct output one = *o;
		char *file;

		if (!g->counts) {
			if (folder && write_revert(o, b, all, i) < 0)
				rc = -1;
			continue;
		}
		if (s.len)
			str_addc(&s, '\n');
		show_issue(&s, b, all, r, i);
		if (!folder)
			continue;
		one.file = file = mem_printf("%s%s.md", o->file, g->key);
		if (output_write(&one, &s) < 0)
			rc = -1;
		free(file);
		str_clear(&s);
	}
	if (!folder)
		rc = output_write(o, &s);
	str_free(&s);
	return rc;
}

static int
write_report(const struct output *o, const struct branch *b,
    const struct findings *all, const struct finding_rules *r)
{
	struct str s = {0};
	int rc;

	switch ((enum format)o->format) {
	case FORMAT_TEXT:
	case FORMAT_MARKDOWN:
		show_report(&s, b, all, r, o->format == FORMAT_MARKDOWN,
		    output_has_colour(o));
		break;
	case FORMAT_ISSUE:
		return write_issues(o, b, all, r);
	case FORMAT_JSONL:
		show_jsonl(&s, b, all);
		break;
	}
	rc = output_write(o, &s);
	str_free(&s);
	return rc;
}

static bool
has_metric(const void *branch, const char *name)
{
	const struct branch *b = branch;

	for (size_t i = 0; i < b->nseries; i++)
		if (strcmp(b->series[i].metric, name) == 0)
			return true;
	return false;
}

/* Returns the exit status: 1 if a regression counts, 2 if there is no answer.
 */
static int
decide_status(const struct branch *b, const struct findings *all,
    const struct finding_rules *r)
{
	for (size_t i = 0; i < all->n; i++)
		if (finding_is_counted(&all->v[i]))
			return 1;
	if (!all->series) {
		err_say("nothing was judged: no metric in %zu commit%s",
		    b->npoints, num_plural(b->npoints));
		return 2;
	}
	if (r->latest && !all->enough) {
		err_say("nothing was judged: no case has %d runs%s at the "
			"newest commit '%s' and before it",
		    VERDICT_RUNS, b->machines > 1 ? " of one machine" : "",
		    b->npoints ? b->points[b->npoints - 1].name : "");
		return 2;
	}
	return 0;
}

/* Says that a history is too short, unless a report does. */
static void
warn_too_short(const struct output *out, size_t n, const struct findings *all,
    const struct finding_rules *r)
{
	for (size_t i = 0; i < n; i++)
		if (out[i].format <= FORMAT_MARKDOWN)
			return;
	if (all->series && !r->latest && !all->ngroups &&
	    all->tooshort == all->series)
		err_say("nothing was examined: a series needs %d commits",
		    CHANGEPOINT_LEAST);
}

static bool
uses_database(const struct opts *o)
{
	return o->database || o->table;
}

static int
start_export(const char *database, const char *table, struct proc **p)
{
	char *path = proc_beside(EXPORTER);
	const char *argv[] = {path, "--export", "--table",
	    table ? table : "core", database ? "--database" : NULL, database,
	    NULL};
	const struct proc_spec spec = {.argv = argv, .death_signal = SIGTERM};
	int fd = proc_pipe(&spec, p);

	free(path);
	return fd;
}

/* Reads runs from PostgreSQL by vkb-pgpush --export, which must succeed. */
static int
read_database(struct branch *b, const char *database, const char *table)
{
	struct proc *p;
	struct jsonl *in;
	int fd = start_export(database, table, &p), status, rc;
	char how[80];

	if (fd < 0)
		return -1;
	in = jsonl_fd(fd, "database");
	rc = reading_add(b->reading, b, in);
	jsonl_close(in);
	if (proc_wait(p, -1, &status) && status)
		rc = err_fail(
		    EXPORTER " %s", proc_ended(status, how, sizeof how));
	proc_free(p);
	return rc;
}

/* Reads the database and the files; without either, stdin. */
static int
read_history(
    struct branch *b, const struct opts *o, const struct opt_args *args)
{
	struct jsonl *in;
	int rc = 0;

	branch_begin(b);
	if (uses_database(o))
		rc = read_database(b, o->database, o->table);
	if (args->n || !uses_database(o)) {
		in = jsonl_open((const char *const *)args->v, args->n);
		rc |= reading_add(b->reading, b, in);
		jsonl_close(in);
	}
	branch_end(b, o->latest ? 2 : CHANGEPOINT_LEAST);
	return rc;
}

static int
detect_changes(const struct opts *o, const struct opt_args *args)
{
	struct finding_rules r = {0};
	struct branch b = {0};
	struct findings all = {0};
	struct output *out = NULL;
	size_t nout = 0;
	int rc = 2, trouble;
	long since;

	if (make_rules(o, &r) < 0 ||
	    !(out = output_list(&o->formats, format_names, &nout)))
		goto out;
	trouble = read_history(&b, o, args) < 0;
	if (o->since) {
		since = branch_find_since(&b, o->since);
		if (since < 0)
			goto out;
		r.since = (size_t)since;
	}
	trouble |=
	    metric_check_names(o->metrics, "no case", has_metric, &b) < 0;
	finding_find_all(&all, &b, &r);
	rc = decide_status(&b, &all, &r);
	warn_too_short(out, nout, &all, &r);
	for (size_t i = 0; i < nout; i++)
		if (write_report(&out[i], &b, &all, &r) < 0)
			rc = 2;
	if (trouble && rc == 0)
		rc = 2;
out:
	finding_free(&all);
	branch_free(&b);
	policy_free(r.policy);
	free(out);
	return rc;
}

static int
run_detect(void *opts, struct opt_args *args)
{
	if (!args->n && !uses_database(opts) && opt_stdin(&program) < 0)
		return -1;
	return detect_changes(opts, args);
}

int
main(int argc, char **argv)
{
	struct opts o = {0};

	return opt_main(&program, argc, argv, &o, run_detect);
}
