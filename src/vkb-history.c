/*
 * vkb-history: keeps the history of a branch in a folder of JSON lines, a file
 * for each commit, without a database. Adds and prunes records, and writes a
 * static site or the runs to compare with.
 */
#include "err.h"
#include "opt.h"
#include "vkb-history/adding.h"
#include "vkb-history/baseline.h"
#include "vkb-history/pruning.h"
#include "vkb-history/archive.h"
#include "vkb-history/site.h"

#include <stdbool.h>
#include <stddef.h>
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

static const struct opt_prog program = {"vkb-history",
    "add|prune|site|baseline DIR [FILE ... | OUT]",
    "Keep the history of a branch as files.", option_table};

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

static int
do_prune(const struct opts *o, const char *dir, char **v, size_t n)
{
	const struct pruning p = {o->keep, o->days, o->except};

	(void)v;
	(void)n;
	return pruning_run(dir, &p);
}

static int
do_site(const struct opts *o, const char *dir, char **v, size_t n)
{
	(void)n;
	return site_write(dir, v[0], o->url, o->quiet);
}

static int
do_baseline(const struct opts *o, const char *dir, char **v, size_t n)
{
	const struct baseline f = {o->commit, o->repo, (size_t)o->last};

	(void)v;
	(void)n;
	return baseline_print(dir, &f);
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
