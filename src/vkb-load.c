/*
 * vkb-load: reads configurations or case records, writes a run record for each
 * repetition of each case, measured on a fresh server.
 */
#include "vkb-load/plan.h"
#include "err.h"
#include "json.h"
#include "jsonl.h"
#include "opt.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct opts {
	struct plan_want want;
	const char *shard;
	bool plan, quiet, verbose;
};

#define AT(field) offsetof(struct opts, field)

static const struct opt table[] = {
    {'q', "quiet", OPT_FLAG, AT(quiet), .help = "no progress"},
    {'v', "verbose", OPT_FLAG, AT(verbose), .help = "a line for each run"},
    {0, "plan", OPT_FLAG, AT(plan), .help = "print the cases, run nothing"},
    {0, "groups", OPT_STR, AT(want.groups), "LIST",
	.help = "only these test groups"},
    {0, "scenarios", OPT_STR, AT(want.scenarios), "LIST",
	.help = "only these scenarios"},
    {0, "case", OPT_STR, AT(want.pattern), "PATTERN",
	.help = "only cases whose id matches, as a shell does"},
    {0, "shard", OPT_STR, AT(shard), "I/N",
	.help = "only each Nth case, from the Ith"},
    {0, "cluster-mode", OPT_CHOICE, AT(want.cluster_mode), "BOOL",
	.choices = "false|true", .help = "in this mode alone"},
    {0, "skip-config-set", OPT_FLAG, AT(want.skip_config_set),
	.help = "leave config_sets out"},
    {0, "skip-profiling", OPT_FLAG, AT(want.skip_profiling),
	.help = "leave profiling_sets out"},
    {0, "lenient", OPT_FLAG, AT(want.lenient),
	.help = "unknown keys are a warning"},
    {0, "duration", OPT_DURATION, AT(want.duration), "TIME", .min = .001,
	.max = 1e7, .help = "of each run, instead of what is asked"},
    {0, "requests", OPT_INT, AT(want.requests), "N", .min = 1, .max = 9e15,
	.help = "of each run, instead of what is asked"},
    {0, "warmup", OPT_DURATION, AT(want.warmup), "TIME", .min = 0, .max = 1e7,
	.help = "before each run, instead of what is asked"},
    {0, "rate", OPT_REAL, AT(want.rate), "N", .min = .001, .max = 1e9,
	.help = "requests per second (open loop)"},
    {0, "latency", OPT_CHOICE, AT(want.latency), "HOW",
	.choices = "request|batch-first-byte", .help = "what latency is"},
    {0}};

static const struct opt_prog prog = {.name = "vkb-load",
    .operands = "[FILE ...]",
    .purpose = "Runs benchmark cases against Valkey servers, one run record "
	       "per repetition.",
    .table = table};

static int
read_shard(const char *s, struct plan_want *w)
{
	int n = 0;

	if (s &&
	    (sscanf(s, "%lld/%lld%n", &w->shard, &w->shards, &n) != 2 || s[n] ||
		w->shard < 1 || w->shard > w->shards))
		return err_fail("option '--shard': '%s' is not I/N with I "
				"from 1 to N",
		    s);
	return 0;
}

static int
check(const struct opts *o, const struct opt_args *args)
{
	if (o->want.duration > 0 && o->want.requests > 0)
		return opt_usage(
		    &prog, "'--duration' and '--requests' exclude each other");
	if (!args->n && isatty(STDIN_FILENO))
		return opt_usage(&prog, "no configuration is given");
	if (args->rest)
		return opt_usage(&prog, "nothing may follow '--'");
	return 0;
}

static int
read_files(struct plan *p, const struct opt_args *args)
{
	int rc = 0;

	if (!args->n)
		rc = plan_read(p, "-");
	for (size_t i = 0; i < args->n; i++)
		if (plan_read(p, args->v[i]) < 0)
			rc = -1;
	return rc < 0 ? -1 : plan_finish(p);
}

static int
print_plan(const struct plan *p)
{
	for (size_t i = 0; i < p->n; i++)
		if (jsonl_write(STDOUT_FILENO, p->cases[i]) < 0)
			return -1;
	return 0;
}

int
main(int argc, char **argv)
{
	struct opts o = {.want = {.warmup = -1}};
	struct plan p = {.want = &o.want};
	struct opt_args args;
	int rc;

	err_init(argv[0]);
	rc = opt_parse(&prog, argc, argv, &o, &args);
	if (rc)
		return rc < 0 ? 2 : 0;
	if (check(&o, &args) < 0 || read_shard(o.shard, &o.want) < 0)
		return 2;
	rc = -1;
	if (read_files(&p, &args) == 0)
		rc = o.plan ? print_plan(&p)
			    : err_fail("only '--plan' is there yet");
	plan_free(&p);
	return rc < 0 ? 2 : 0;
}
