/*
 * vkb-parse: converts the output of other benchmark tools to run records or,
 * with --flat, to the metrics.json of the Python tool.
 */
#include "mem.h"
#include "opt.h"
#include "vkb-parse/formats.h"
#include "vkb-parse/runs.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct opts {
	const char *from;
	struct runs_opts runs;
	bool raw;
};

#define AT(f) offsetof(struct opts, f)

static const struct opt option_table[] = {
    {'c', "columns", OPT_LIST, AT(runs.columns), "MAP",
	.help = "map columns of a CSV to keys: KEY=COLUMN,..."},
    {'F', "flat", OPT_FLAG, AT(runs.flat),
	.help = "write the metrics.json of the Python tool"},
    {'f', "from", OPT_STR, AT(from), "FORMAT",
	.help = "format of the input; default auto"},
    {0, "raw", OPT_FLAG, AT(raw),
	.help = "write the input as a record before its runs"},
    {'s', "set", OPT_LIST, AT(runs.sets), "SECTION.KEY=VALUE",
	.help = "set a key of every run: subject.label=mine"},
    {0, "whole", OPT_FLAG, AT(runs.whole),
	.help = "with --flat: add the whole record of each run as 'vkb'"},
    {0}};

static const struct opt_prog program = {.name = "vkb-parse",
    .operands = "[FILE|DIR ...]",
    .purpose = "Convert the output of benchmark tools to run records.",
    .table = option_table};

static bool
is_file(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

static bool
is_folder(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

/* Returns the name of a file without folder and suffix. Caller frees. */
static char *
find_stem(const char *path)
{
	const char *name = strrchr(path, '/');
	char *stem = mem_str(name ? name + 1 : path);
	char *dot = strrchr(stem, '.');

	if (dot && dot > stem)
		*dot = '\0';
	return stem;
}

/* Returns what the runs of one of two files are called whose subject has no
 * name: the stem, or the path if another has the same stem. Caller frees. */
static char *
name_file(const struct opt_args *args, size_t i)
{
	char *name = find_stem(args->v[i]), *other = find_stem(args->v[1 - i]);
	bool same = strcmp(name, other) == 0;

	free(other);
	if (!same)
		return name;
	free(name);
	return mem_str(args->v[i]);
}

static int
read_operand(const struct opts *o, const struct opt_args *args, size_t i,
    const struct format *f, struct runs *runs)
{
	const char *path = args->v[i];
	char *name;
	int rc;

	if (is_folder(path))
		return formats_read_folder(path, f, o->raw, runs);
	name = args->n == 2 && is_file(args->v[0]) && is_file(args->v[1])
	    ? name_file(args, i)
	    : NULL;
	runs_set_ref(runs, name);
	rc = formats_read(path, f, o->raw, runs);
	runs_set_ref(runs, NULL);
	free(name);
	return rc;
}

static int
run_parse(void *opts, struct opt_args *args)
{
	const struct opts *o = opts;
	const struct format *f;
	struct runs *runs;
	int rc = 0;

	if (o->runs.whole && !o->runs.flat)
		return opt_usage(&program, "--whole needs --flat");
	if ((!args->n && opt_stdin(&program) < 0) ||
	    formats_find(o->from, &f) < 0)
		return -1;
	runs = runs_new(&o->runs);
	if (!runs)
		return -1;
	for (size_t i = 0; i < args->n && !runs_have_failed(runs); i++)
		rc |= read_operand(o, args, i, f, runs);
	if (!args->n)
		rc = formats_read("-", f, o->raw, runs);
	return runs_end(runs) < 0 ? -1 : rc;
}

int
main(int argc, char **argv)
{
	struct opts o = {0};

	return opt_main(&program, argc, argv, &o, run_parse);
}
