#include "ownkeys.h"
#include "benchcase.h"
#include "cmdargs.h"
#include "json.h"
#include "mem.h"
#include "mixspec.h"
#include "str.h"
#include "vkb-load/engine/command.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define MARK COMMAND_PREFIX

/* Members of a configuration that hold commands, or lists of them. */
static const char *const command_keys[] = {
    "command", "populate_with", "setup_commands", "teardown_commands"};
#define FIRST_SETUP 2 /* the members from here on are sent once, and whole */
static const char *const side_keys[] = {"writes", "reads"};

static char *
copy_without_mark(const char *text, const void *none)
{
	return command_expand_prefix(text, none);
}

static void
strip_member(struct json *of, const char *key)
{
	json_set(of, key,
	    json_change_texts(json_get(of, key), copy_without_mark, NULL));
}

void
ownkeys_strip(struct json *config)
{
	struct json *p;

	for (size_t i = 0; i < 4; i++)
		strip_member(config, command_keys[i]);
	strip_member(config, "mix");
	for (size_t i = 0; i < 2; i++)
		for (p = json_first(json_get(config, side_keys[i])); p;
		     p = json_next(p))
			strip_member(p, "command");
}

/* Is it a built-in test, whose keys vkb-load names? */
static bool
is_builtin_test(const char *text)
{
	char *name = str_upper(text);
	bool yes = command_known(name);

	free(name);
	return yes;
}

/* May it write keys that it does not name? */
static bool
is_script(const char *name)
{
	char *upper = str_upper(name);
	bool yes = str_has_part("EVAL EVALSHA FCALL", upper, ' ');

	free(upper);
	return yes;
}

/* Does a command of n >= 1 words have all its keys, and are they ours? */
static bool
has_own_keys(char *const *list, size_t n)
{
	struct tracefile_word *words = cmdargs_words(list, n);
	enum cmdargs_role *roles = mem_array(n, sizeof *roles);
	bool own = cmdargs_keys(words, n, roles) && !is_script(list[0]);

	for (size_t i = 1; i < n; i++)
		own &= roles[i] != CMDARGS_KEY || str_starts(list[i], MARK);
	free(words);
	free(roles);
	return own;
}

/*
 * Are all keys of a text ours? It is 'one' command, or has ";" between several,
 * each of which may begin with the number of times that it is sent. Sets
 * 'script' if one is a script.
 */
static bool
has_prefix_marks(const char *text, bool one, bool *script)
{
	const char *why;
	size_t n = 0, at = 0, k;
	char **list = command_split(text, &n, &why);
	bool own = list && n > 0;

	while (list && (k = one ? n - at : command_next(list, n, &at, NULL))) {
		*script |= is_script(list[at]);
		own &= has_own_keys(list + at, k);
		at += k + !one;
	}
	mem_free_list(list);
	return own;
}

/*
 * Returns what is wrong with the command of a load, or with one of a list; or
 * NULL. Commands of 'setup' are sent whole, even the name of a test.
 */
static char *
check_commands(const struct json *j, bool setup)
{
	const char *text = json_str(j);
	char *why = NULL;
	bool script = false;

	if (text && (setup || !is_builtin_test(text)) &&
	    !has_prefix_marks(text, setup, &script))
		return mem_printf("--no-flush needs a prefix on all keys: "
				  "put " MARK " in front of each key and index "
				  "of '%s'%s",
		    text,
		    script ? "; a script may write any key, so EVAL, EVALSHA "
			     "and FCALL are refused, but not their _RO forms"
			   : "");
	for (j = json_first(j); j && !why; j = json_next(j))
		why = check_commands(j, setup);
	return why;
}

/* Returns what is wrong with the commands of a mix, or NULL. */
static char *
check_mix(const char *text)
{
	struct json *list = json_array();
	struct mixspec m;
	char *why;

	free(mixspec_parse(text, &m));
	for (size_t i = 0; i < m.n; i++)
		json_push(list, json_string(m.v[i].command));
	why = check_commands(list, false);
	json_free(list);
	mixspec_free(&m);
	return why;
}

char *
ownkeys_explain(const struct json *cas)
{
	const struct json *c = json_get(cas, "config"), *j;
	const char *mix = json_get_str(c, "mix");
	bool mixed = mix || json_get(c, "writes") || json_get(c, "reads");
	char *why = NULL;

	if (strcmp(bench_case_engine(c), BENCH_CASE_NATIVE) != 0)
		return mem_str("--no-flush needs a prefix on all keys, which "
			       "this engine does not support");
	if (json_get(c, "replay"))
		return mem_str("--no-flush needs a prefix on all keys, which "
			       "those of a trace cannot get");
	if (json_get(c, "config_set"))
		return mem_str("its config_set would change a running server, "
			       "which --no-flush forbids; use "
			       "--skip-config-set");
	if (mix)
		why = check_mix(mix);
	for (size_t i = mixed ? 1 : 0; i < 4 && !why; i++)
		why = check_commands(
		    json_get(c, command_keys[i]), i >= FIRST_SETUP);
	for (size_t i = 0; i < 2; i++)
		for (j = json_first(json_get(c, side_keys[i])); j && !why;
		     j = json_next(j))
			why = check_commands(json_get(j, "command"), false);
	return why;
}
