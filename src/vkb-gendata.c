/*
 * vkb-gendata: makes the datasets and query files that configurations ask for.
 * Writes to stdout only with --list: a table of the files and their states.
 */
#include "err.h"
#include "folder.h"
#include "mem.h"
#include "num.h"
#include "opt.h"
#include "str.h"
#include "table.h"
#include "vkb-gendata/make.h"
#include "vkb-gendata/recipe.h"
#include "vkb-gendata/sidecar.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MOST_JOBS 1024
#define SHA1 40 /* digits */
#define HEX "0123456789abcdefABCDEF"

struct opts {
	struct opt_list files;
	const char *seed;
	const char *out;
	const char *wikipedia;
	const char *sha1;
	long long jobs;
	bool force, list, quiet;
};

static const struct opt option_table[] = {
    {'f', "force", OPT_FLAG, offsetof(struct opts, force),
	.help = "make the files again, even if something else made them"},
    {0, "files", OPT_LIST, offsetof(struct opts, files), "NAME,...",
	.help = "make these files only; may be repeated"},
    {'j', "jobs", OPT_INT, offsetof(struct opts, jobs), "N", .min = 1,
	.max = MOST_JOBS, .help = "run N threads; default one for each CPU"},
    {'l', "list", OPT_FLAG, offsetof(struct opts, list),
	.help = "list the files and their states, make nothing"},
    {'o', "output", OPT_STR, offsetof(struct opts, out), "DIR",
	.help = "make the files in DIR (datasets)"},
    {'q', "quiet", OPT_FLAG, offsetof(struct opts, quiet),
	.help = "show no progress on the terminal"},
    {0, "seed", OPT_STR, offsetof(struct opts, seed), "N",
	.help = "seed random contents; 0 makes the Python tool's"},
    {0, "sha1", OPT_STR, offsetof(struct opts, sha1), "HEX",
	.help = "check a fetched dump against this SHA-1"},
    {0, "wikipedia", OPT_STR, offsetof(struct opts, wikipedia), "FILE|URL",
	.help = "take texts from this wiki dump"},
    {0}};

static const struct opt_prog program = {"vkb-gendata", "[CONFIG ...]",
    "Make the datasets and query files of benchmark configurations.",
    option_table};

static int
report_unknown_file(const struct recipes *r, const char *name)
{
	struct str s = {0};

	for (size_t i = 0; i < r->n; i++)
		str_printf(&s, "%s%s", i ? ", " : "", r->v[i].name);
	err_say("option '--files': no file '%s' in the configuration "
		"(there are %s)",
	    name, s.len ? s.s : "none");
	str_free(&s);
	return -1;
}

/* Marks the files of one "a,b" in 'chosen'. Returns -1 for an unknown name. */
static int
choose_listed_files(const struct recipes *r, const char *names, bool *chosen)
{
	char *copy = mem_str(names), *rest = copy, *name;
	int rc = 0;

	while (rc == 0 && (name = strsep(&rest, ","))) {
		size_t hits = 0;

		for (size_t i = 0; i < r->n; i++)
			if (strcmp(r->v[i].name, name) == 0 ||
			    strcmp(r->v[i].key, name) == 0) {
				chosen[i] = true;
				hits++;
			}
		if (!*name)
			rc = err_fail(
			    "option '--files': '%s' has an empty name", names);
		else if (!hits)
			rc = report_unknown_file(r, name);
	}
	free(copy);
	return rc;
}

static int
choose_files(
    const struct recipes *r, const struct opt_list *files, bool *chosen)
{
	for (size_t i = 0; i < r->n && !files->n; i++)
		chosen[i] = true;
	for (size_t i = 0; i < files->n; i++)
		if (choose_listed_files(r, files->v[i], chosen) < 0)
			return -1;
	return 0;
}

static int
print_states(const struct make *m, const struct recipes *r, const bool *chosen)
{
	static const char *const names[] = {[SIDECAR_MISSING] = "missing",
	    [SIDECAR_CURRENT] = "current",
	    [SIDECAR_STALE] = "stale",
	    [SIDECAR_CHANGED] = "changed",
	    [SIDECAR_FOREIGN] = "foreign"};
	struct table *t = table_new();
	struct str out = {0};
	int *states = mem_array(r->n + 1, sizeof *states);
	int rc = make_states(m, chosen, states);

	table_titles(t, "file|>rows|>fields|state");
	for (size_t i = 0; i < r->n; i++) {
		const struct recipe_file *f = &r->v[i];
		unsigned long long rows = f->rows;

		if (!chosen[i])
			continue;
		table_cell(t, f->name);
		table_take(
		    t, f->base ? mem_str("-") : mem_printf("%llu", rows));
		table_take(t, f->base ? mem_str("-") : mem_printf("%zu", f->n));
		table_cell(t, states[i] < 0 ? "unknown" : names[states[i]]);
	}
	table_print(t, &out, false);
	table_free(t);
	free(states);
	fwrite(out.s ? out.s : "", 1, out.len, stdout);
	str_free(&out);
	return rc;
}

static int
parse_seed(const char *text, uint64_t *v)
{
	long long i = 0;

	if (text && (num_int(text, &i) < 0 || i < 0 || i > INT64_C(1) << 53))
		return err_fail("option '--seed': '%s' is not a whole number "
				"from 0 to 2^53",
		    text);
	*v = (uint64_t)i;
	return 0;
}

static int
make_or_list(const struct opts *o, const struct recipes *r)
{
	struct make m = {.dir = o->out,
	    .wikipedia = o->wikipedia,
	    .sha1 = o->sha1,
	    .threads = (size_t)o->jobs,
	    .recipes = r,
	    .force = o->force,
	    .quiet = o->quiet};
	bool *chosen = mem_array(r->n + 1, sizeof *chosen);
	int rc = -1;

	if (o->sha1 &&
	    (strlen(o->sha1) != SHA1 || strspn(o->sha1, HEX) != SHA1))
		err_say("option '--sha1': '%s' is not 40 hexadecimal digits",
		    o->sha1);
	else if (parse_seed(o->seed, &m.seed) == 0 &&
	    choose_files(r, &o->files, chosen) == 0)
		rc = o->list ? print_states(&m, r, chosen)
			     : make_all(&m, chosen);
	free(chosen);
	return rc;
}

static int
run_gendata(void *opts, struct opt_args *args)
{
	struct opts *o = opts;
	struct recipes r = {0};
	int rc = 0;

	if (!args->n && opt_stdin(&program) < 0)
		return -1;
	if (!o->jobs) {
		o->jobs = sysconf(_SC_NPROCESSORS_ONLN);
		o->jobs = o->jobs < 1 ? 1 : o->jobs;
	}
	if (!args->n)
		rc = recipe_read(&r, "-");
	for (size_t i = 0; i < args->n; i++)
		if (recipe_read(&r, args->v[i]) < 0)
			rc = -1;
	if (rc == 0)
		rc = recipe_check_sources(&r);
	if (rc == 0)
		rc = make_or_list(o, &r);
	recipe_free(&r);
	return rc;
}

int
main(int argc, char **argv)
{
	struct opts o = {.out = "datasets"};

	return opt_main(&program, argc, argv, &o, run_gendata);
}
