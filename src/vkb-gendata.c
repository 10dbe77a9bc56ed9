/*
 * vkb-gendata: makes the datasets and query files that configurations ask for.
 * Writes to stdout only with --list: a table of the files and their states.
 */
#include "cgroup.h"
#include "err.h"
#include "mem.h"
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

#define MOST_JOBS 1024
#define MOST_SEED 0x1p53
#define SHA1 40 /* digits */
#define HEX "0123456789abcdefABCDEF"

struct opts {
	struct opt_list files;
	struct make make;
	bool list;
};

#define AT(f) offsetof(struct opts, f)

static const struct opt option_table[] = {
    {'f', "force", OPT_FLAG, AT(make.force),
	.help = "make the files again, even if something else made them"},
    {0, "files", OPT_LIST, AT(files), "NAME,...",
	.help = "make these files only; may be repeated"},
    {'j', "jobs", OPT_INT, AT(make.threads), "N", .min = 1, .max = MOST_JOBS,
	.help = "run N threads; default one for each CPU"},
    {'l', "list", OPT_FLAG, AT(list),
	.help = "list the files and their states, make nothing"},
    {'o', "output", OPT_STR, AT(make.dir), "DIR",
	.help = "make the files in DIR (datasets)"},
    {'q', "quiet", OPT_FLAG, AT(make.quiet),
	.help = "show no progress on the terminal"},
    {0, "seed", OPT_INT, AT(make.seed), "N", .max = MOST_SEED,
	.help = "seed random contents; 0 makes the Python tool's"},
    {0, "sha1", OPT_STR, AT(make.sha1), "HEX",
	.help = "check a fetched dump against this SHA-1"},
    {0, "wikipedia", OPT_STR, AT(make.wikipedia), "FILE|URL",
	.help = "take texts from this wiki dump"},
    {0}};

static const struct opt_prog program = {.name = "vkb-gendata",
    .operands = "[CONFIG ...]",
    .purpose = "Make the datasets and query files of benchmark configurations.",
    .table = option_table};

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
	int rc = make_find_states(m, chosen, states);

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
make_or_list(const struct opts *o, const struct recipes *r)
{
	const char *sha1 = o->make.sha1;
	bool *chosen = mem_array(r->n + 1, sizeof *chosen);
	int rc = -1;

	if (sha1 && (strlen(sha1) != SHA1 || strspn(sha1, HEX) != SHA1))
		err_say(
		    "option '--sha1': '%s' is not 40 hexadecimal digits", sha1);
	else if (choose_files(r, &o->files, chosen) == 0)
		rc = o->list ? print_states(&o->make, r, chosen)
			     : make_files(&o->make, chosen);
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
	o->make.recipes = &r;
	if (!o->make.threads)
		o->make.threads = cgroup_count_cpus("");
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
	struct opts o = {.make.dir = "datasets"};

	return opt_main(&program, argc, argv, &o, run_gendata);
}
