#include "requestcommands.h"
#include "cmdargs.h"
#include "err.h"
#include "json.h"
#include "mem.h"
#include "mixspec.h"
#include "str.h"
#include "vkb-load/engine/command.h"
#include "vkb-load/engine/demand.h"
#include "vkb-load/engine/engine.h"
#include "vkb-load/engine/words.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

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
	struct tracefile_word *w = mem_array(n, sizeof *w);
	char name[CMDARGS_NAME];
	const char *why;
	int rc = 0;

	for (size_t i = 0; i < n; i++)
		w[i] = (struct tracefile_word){list[i], strlen(list[i])};
	cmdargs_name(w, 1, name);
	why = refuse_command(w, n);
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
	char **list = words_split(text, &n, &why);
	int rc = list ? 0 : err_fail("'%s': %s", text, why);

	for (size_t at = 0; rc == 0 && (k = words_command(list, n, &at, NULL));
	     at += k + 1) {
		rc = check_command(list + at, k);
		if (rc == 0)
			demand_add_command(&a->demand, list + at, k, true);
	}
	words_free(list);
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

double
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
