#include "request.h"
#include "cmdargs.h"
#include "err.h"
#include "inputs.h"
#include "json.h"
#include "mem.h"
#include "mixspec.h"
#include "opt.h"
#include "plan.h"
#include "str.h"
#include "vkb-load/engine/command.h"
#include "vkb-load/engine/demand.h"
#include "vkb-load/engine/engine.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/*
 * The commands of a request, which others wrote: which of them it may have, and
 * how much memory they can take at most.
 */

#define RPS_MOST 2e6 /* requests/s that a server can answer */

/* A load that is asked for. */
struct asked {
	struct demand demand;
	struct engine_target target;
	struct engine_work work;
};

/* Returns why a request may not have a command, or NULL. Static. */
static const char *
refuse_command(const struct tracefile_word *w, size_t n)
{
	const char *why = cmdargs_refuse(w, n);

	if (why)
		return why;
	if (memchr(w->s, '.', w->n))
		return "it belongs to a module";
	return cmdargs_is_data(w)
	    ? NULL
	    : "it runs a script, or is one that the server lists as dangerous";
}

/* Checks a command. Returns 0 or -1. */
static int
check_command(char *const *list, size_t n)
{
	struct tracefile_word *w = cmdargs_words(list, n);
	const char *why = refuse_command(w, n);
	char name[CMDARGS_NAME];
	int rc = 0;

	cmdargs_name(w, 1, name);
	if (why)
		rc = err_fail("a request may not have the command %s: %s; it "
			      "may have those that read or write keys, such "
			      "as GET, HSET or ZRANGE",
		    name, why);
	free(w);
	return rc;
}

/* Takes the commands of a text. Returns 0 or -1. */
static int
take_text(struct asked *a, const char *text)
{
	const char *why;
	size_t n = 0, k;
	char **list = command_split(text, &n, &why);
	int rc = list ? 0 : err_fail("'%s': %s", text, why);

	for (size_t at = 0; rc == 0 && (k = command_next(list, n, &at, NULL));
	     at += k + 1) {
		rc = check_command(list + at, k);
		if (rc == 0)
			demand_add_command(&a->demand, list + at, k, true);
	}
	mem_free_list(list);
	return rc;
}

static int
take_command(struct asked *a, const char *command)
{
	char *name = str_upper(command);
	int rc = 0;

	if (command_known(name))
		demand_add_test(&a->demand, &a->target, &a->work, name);
	else
		rc = take_text(a, command);
	free(name);
	return rc;
}

static int
take_mix(struct asked *a, const char *text)
{
	struct mixspec m;
	int rc = 0;

	free(mixspec_parse(text, &m)); /* it was checked */
	for (size_t i = 0; i < m.n && rc == 0; i++)
		rc = take_command(a, m.v[i].command);
	mixspec_free(&m);
	return rc;
}

/*
 * Checks the commands of the configuration of a case. Returns how many bytes
 * its keys, requests and replies can take at most, or -1 after reporting a
 * command that a request may not have.
 */
static double
requestcommands_check(const struct json *config)
{
	double seconds = json_get_num(config, "duration_s", 0) +
	    json_get_num(config, "warmup_s", 0);
	struct asked a = {
	    .demand = {.keys = fmax(1, json_get_num(config, "keyspacelen", 1)),
		.size = json_get_num(config, "data_size", 0)},
	    .target = {.nnodes = 1}};
	const char *with = json_get_str(config, "populate_with"),
		   *mix = json_get_str(config, "mix"),
		   *command = json_get_str(config, "command");
	int rc = 0;

	a.work = (struct engine_work){.keyspacelen = (long long)a.demand.keys,
	    .data_size = (size_t)a.demand.size,
	    .clients = (size_t)json_get_num(config, "clients", 1),
	    .pipeline = (size_t)json_get_num(config, "pipeline", 1)};
	a.demand.requests = a.demand.keys;
	if (with)
		rc = take_command(&a, with);
	a.demand.requests =
	    fmax(1, RPS_MOST * seconds + json_get_num(config, "requests", 0));
	a.demand.flight = (double)a.work.clients * (double)a.work.pipeline;
	if (rc == 0 && mix)
		rc = take_mix(&a, mix);
	else if (rc == 0 && command)
		rc = take_command(&a, command);
	if (rc < 0)
		return -1;
	return a.demand.unbounded ? INFINITY : demand_bytes(&a.demand);
}

#define TEXT_MOST 8192 /* bytes */
#define CASES_MOST 200 /* of a request */
#define GIB 1073741824.0
#define BYTES_MOST (4 * GIB) /* that a case can take */
#define FILLED_PER_S 500000  /* keys, at least */
#define SECONDS_MOST 7200    /* of load on each build */
#define AROUND_S 1           /* of a run, before and after its load */

/* The options of a request, the key of a case that each sets, and its limit.
 * Behind "set" are the keys that it may set. */
static const struct {
	const char *option, *key;
	double most;
	const char *set;
} allowed[] = {{.option = "tests"}, {.option = "command"}, {.option = "mix"},
    {"clients", "clients", 10000, NULL}, {"pipeline", "pipeline", 1000, NULL},
    {"data-size", "data_size", 1 << 20, NULL},
    {"keyspacelen", "keyspacelen", 10000000, NULL}, {.option = "cluster-mode"},
    {"duration", "duration_s", 300, NULL}, {"warmup", "warmup_s", 300, NULL},
    {.option = "runs"}, {.option = "set", .set = "populate_with"},
    {"set", "io_threads", 128, "io-threads"},
    {"set", "benchmark_threads", 128, "benchmark-threads"}};

enum { ALLOWED = sizeof allowed / sizeof *allowed };

/* Returns why the text cannot be options, or NULL. Makes line ends "\n". */
static const char *
check_text(struct str *s)
{
	if (s->len > TEXT_MOST)
		return "it is longer than 8192 bytes";
	if (!str_utf8(s->s, s->len))
		return "it is not UTF-8";
	for (size_t i = 0; i < s->len; i++)
		if (s->s[i] == '\r')
			s->s[i] = ' ';
		else if (((unsigned char)s->s[i] < ' ' &&
			     !strchr("\t\n", s->s[i])) ||
		    !s->s[i])
			return "it has a control character";
	return NULL;
}

/* Fills 'to' with the rows of the table that a request may have. */
static void
select_options(struct opt to[ALLOWED + 1], const struct opt *table)
{
	size_t n = 0;

	for (; table->name; table++)
		for (size_t i = 0; i < ALLOWED; i++)
			if (strcmp(table->name, allowed[i].option) == 0 &&
			    (!n || strcmp(to[n - 1].name, table->name) != 0))
				to[n++] = *table;
	to[n] = (struct opt){0};
}

static void
list_options(void)
{
	struct str s = {0};

	for (size_t i = 0; i < ALLOWED; i++)
		str_printf(&s, "%s--%s%s%s", i ? ", " : "", allowed[i].option,
		    allowed[i].set ? " " : "",
		    allowed[i].set ? allowed[i].set : "");
	err_say("the options of a request are %s", s.s);
	str_free(&s);
}

/* 0, or -1, error reported, if a value is for a key that is not allowed. */
static int
check_sets(const struct opt_list *sets, size_t from)
{
	for (bool may = false; from < sets->n; from++, may = false) {
		for (size_t i = 0; i < ALLOWED; i++)
			may = may ||
			    (allowed[i].set &&
				str_starts(sets->v[from], allowed[i].set) &&
				sets->v[from][strlen(allowed[i].set)] == '=');
		if (!may)
			return err_fail("a request cannot set '%.*s'",
			    (int)strcspn(sets->v[from], "="), sets->v[from]);
	}
	return 0;
}

/* Parses the n words as options; those of --set are added to 'sets'. 0, or -1,
 * error reported. */
static int
parse_options(char **words, size_t n, const struct opt *table, void *opts,
    const struct opt_list *sets)
{
	struct opt own[ALLOWED + 1];
	struct opt_prog prog = {.name = "vkb-load",
	    .operands = "",
	    .purpose = "Options of a request.",
	    .table = own};
	char **argv = mem_array(n + 2, sizeof *argv);
	size_t given = sets->n;
	struct opt_args args;
	int rc;

	select_options(own, table);
	for (size_t i = 0; i < n; i++)
		argv[i + 1] = words[i];
	rc = opt_parse(&prog, (int)n + 1, argv, opts, &args);
	if (rc == 0 && args.n)
		rc = err_fail(
		    "the request has '%s', which is not an option", args.v[0]);
	else if (rc > 0)
		rc = err_fail("a request cannot ask for help");
	else if (rc == 0)
		rc = check_sets(sets, given);
	if (rc < 0)
		list_options();
	free(argv);
	return rc;
}

int
request_read(struct request *r, const char *file, const struct opt *table,
    void *opts, const struct opt_list *sets)
{
	struct str s = {0};
	const char *why;
	size_t n;
	int rc = -1;

	if (inputs_read(file, &s) < 0)
		goto out;
	why = check_text(&s);
	r->words = why ? NULL : command_split(s.s, &n, &why);
	if (r->words)
		rc = parse_options(r->words, n, table, opts, sets);
	else
		err_say("the request '%s' cannot be read: %s", file, why);
out:
	str_free(&s);
	return rc;
}

void
request_free(struct request *r)
{
	mem_free_list(r->words);
}

/* 0, or -1, error reported. */
static int
check_case(const struct json *config)
{
	double v, bytes;

	for (size_t i = 0; i < ALLOWED; i++) {
		v = allowed[i].key ? json_get_num(config, allowed[i].key, 0)
				   : 0;
		if (v > allowed[i].most)
			return err_fail("option '--%s%s%s': %.15g is more than "
					"a request may ask for, which is %.0f",
			    allowed[i].option, allowed[i].set ? " " : "",
			    allowed[i].set ? allowed[i].set : "", v,
			    allowed[i].most);
	}
	bytes = requestcommands_check(config);
	if (isinf(bytes))
		return err_fail("'%s' has an offset that is not a number, so "
				"its memory is not known",
		    json_get_str(config, "command"));
	if (bytes > BYTES_MOST)
		return err_fail("the keys, requests and replies of '%s' can "
				"take %.3g GiB, and those of a request may "
				"take %.0f: ask for fewer or smaller keys "
				"('--keyspacelen', '--data-size', an offset), "
				"a shorter '--duration' if the command makes "
				"them grow, or fewer '--clients'",
		    json_get_str(config, "command"), bytes / GIB,
		    BYTES_MOST / GIB);
	return bytes < 0 ? -1 : 0;
}

int
request_check(const struct plan *p, size_t runs)
{
	const struct json *config;
	double seconds = 0;

	if (p->n > CASES_MOST)
		return err_fail("the request has %zu cases, and may have %d",
		    p->n, CASES_MOST);
	for (size_t i = 0; i < p->n; i++) {
		config = json_get(p->cases[i], "config");
		if (check_case(config) < 0)
			return -1;
		seconds += AROUND_S + json_get_num(config, "duration_s", 0) +
		    json_get_num(config, "warmup_s", 0);
		if (json_get(config, "populate_with") ||
		    command_reads(json_get_str(config, "command")))
			seconds += json_get_num(config, "keyspacelen", 0) /
			    FILLED_PER_S;
	}
	seconds *= (double)runs;
	if (seconds > SECONDS_MOST)
		return err_fail("the request takes about %.0f minutes for each "
				"build, and may take %d: ask for fewer cases "
				"or runs, or a shorter duration",
		    seconds / 60, SECONDS_MOST / 60);
	return 0;
}
