#include "vbrefuse.h"
#include "config.h"
#include "json.h"
#include "mem.h"
#include "vbargs.h"
#include "vbcaps.h"
#include "vbench.h"
#include "vkb-load/case/servercounts.h"
#include "vkb-load/engine/command.h"
#include "vkb-load/engine/engine.h"
#include "vkb-load/engine/words.h"

#include <ctype.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* "__rand_2nd__ through __rand_9th__ are also available" */
static bool
is_placeholder_known(const struct vbcaps *v, const char *word)
{
	static const char *const between[] = {"__rand_3rd__", "__rand_4th__",
	    "__rand_5th__", "__rand_6th__", "__rand_7th__", "__rand_8th__"};

	for (size_t i = 0; i < sizeof between / sizeof *between; i++)
		if (strcmp(between[i], word) == 0)
			word = "__rand_9th__";
	return vbcaps_mentions(v, word);
}

/*
 * Returns a placeholder of a command that its help does not name, or NULL;
 * caller frees.
 */
static char *
find_unknown_placeholder(const struct vbcaps *v, const char *command)
{
	const char *p = command, *end;
	char *word;

	while ((p = strstr(p, "__"))) {
		end = strstr(p + 2, "__");
		if (!end)
			break;
		word = mem_strn(p, (size_t)(end + 2 - p));
		if (!strpbrk(word, " \t\n") && !is_placeholder_known(v, word))
			return word;
		free(word);
		p = end + 2;
	}
	return NULL;
}

/*
 * Returns why a command that is not a test cannot be run, or NULL; caller
 * frees.
 */
static char *
explain_command(const struct vbcaps *v, const struct json *c)
{
	const char *command = json_get_str(c, "command"), *why = NULL;
	const char *phase = json_get_str(c, "test_phase");
	char **words, *mark, *text;
	size_t n;

	if (phase && strcmp(phase, "read") == 0)
		return mem_str("it reads what another scenario wrote, and is "
			       "tried on a server of its own");
	words = words_split(command, &n, &why);
	if (!words)
		return mem_printf("its command: %s", why);
	/* The program takes a number as a repeat count. */
	if (!n || words[0][0] == '-' || isdigit((unsigned char)words[0][0]))
		why = "its command does not begin with a name";
	else if (!servercounts_is_load(words[0], strlen(words[0])))
		why = "its command is not only sent by the load, so the "
		      "servers cannot count it";
	for (size_t i = 0; i < n && !why; i++)
		if (strcmp(words[i], ";") == 0)
			why = "it is a sequence of commands";
	mem_free_list(words);
	if (why)
		return mem_str(why);
	if (json_get_bool(c, "cluster_mode", false) &&
	    !strstr(command, "{tag}"))
		return mem_str("in a cluster the key of its command needs "
			       "'{tag}'");
	mark = find_unknown_placeholder(v, command);
	if (!mark)
		return NULL;
	text = mem_printf("%s does not know '%s'", vbcaps_name(v), mark);
	free(mark);
	return text;
}

/* Returns an option that the case needs and the program lacks, or NULL. */
static const char *
find_lacking_option(const struct vbcaps *v, const struct json *cas)
{
	const struct json *c = json_get(cas, "config");
	const struct {
		const char *option;
		bool wanted;
	} needs[] = {{"--tls", json_get_bool(c, "tls_mode", false)},
	    {"--cluster", json_get_bool(c, "cluster_mode", false)},
	    {"--threads", json_get_num(c, "benchmark_threads", 1) > 1},
	    {"-3", json_get_bool(c, "resp3", false)},
	    {"--sequential", json_get_bool(c, "sequential", false)},
	    {"--seed", json_path(cas, "client.seed") != NULL}};

	for (size_t i = 0; i < sizeof needs / sizeof *needs; i++)
		if (needs[i].wanted && !vbcaps_has(v, needs[i].option))
			return needs[i].option;
	return NULL;
}

/* Returns true if more elements are popped than can be seeded. */
static bool
has_too_many_pops(const struct json *c)
{
	struct engine_target t = {0};
	struct engine_work w = {.command = json_get_str(c, "command"),
	    .data_size = (long long)json_get_num(c, "data_size", 1),
	    .requests = (long long)json_get_num(c, "requests", 0)};

	return w.requests > 0 && engine_refills(&t, &w);
}

/* Returns a feature that one process of the program cannot have, or NULL. */
static const char *
find_unsupported(const struct json *c)
{
	for (const struct config_key *k = config_keys; k->name; k++)
		if (k->foreign && json_get(c, k->identity))
			return k->foreign;
	return NULL;
}

char *
vbrefuse_explain(const struct vbcaps *v, const struct json *cas, bool login)
{
	const struct json *c = json_get(cas, "config");
	const char *command = json_get_str(c, "command"), *option;
	const char *own = json_str(json_path(cas, "server.config.requirepass"));
	const char *latency = json_get_str(c, "latency");

	if (find_unsupported(c))
		return mem_printf(
		    "%s need the engine of vkb-load", find_unsupported(c));
	if (!latency || strcmp(latency, "batch-first-byte") != 0)
		return mem_str("the latency of " VBENCH
			       " is batch-first-byte, not request");
	if (json_path(cas, "client.max_lost"))
		return mem_str(VBENCH " does not count what it loses "
				      "('max_lost')");
	option = find_lacking_option(v, cas);
	if (option)
		return mem_printf("%s has no '%s'", vbcaps_name(v), option);
	if (((own && *own) || login) && !vbcaps_password(v))
		return mem_printf("%s takes a password as an argument only, "
				  "which every user could read",
		    vbcaps_name(v));
	if (json_get_num(c, "requests", 0) > INT_MAX ||
	    json_get_num(c, "keyspacelen", 0) > INT_MAX)
		return mem_printf(
		    VBENCH " counts requests and keys to %d", INT_MAX);
	if (!command_known(command))
		return explain_command(v, c);
	if (json_get_bool(c, "cluster_mode", false) &&
	    command_needs(command) != NEEDS_NOTHING)
		return mem_printf("in a cluster " VBENCH " takes keys of any "
				  "slot, so %s would find nothing",
		    command);
	if (!vbargs_fits(v, command, json_get_num(c, "data_size", 0)))
		return mem_printf("%s has no test %s, and the value is too "
				  "long for an argument",
		    vbcaps_name(v), command);
	if (has_too_many_pops(c))
		return mem_printf("%s needs more elements than can be "
				  "seeded",
		    command);
	return NULL;
}
