#include "ownkeys.h"
#include "benchcase.h"
#include "json.h"
#include "mem.h"
#include "plan.h"
#include "str.h"
#include "vkb-load/engine/command.h"
#include "vkb-load/engine/words.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define MARK WORDS_PREFIX

/* Members of a configuration that hold commands, or lists of them. */
static const char *const command_keys[] = {
    "command", "populate_with", "setup_commands", "teardown_commands"};
static const char *const side_keys[] = {"writes", "reads"};

static char *
copy_without_mark(const char *text, const void *none)
{
	return words_expand_prefix(text, none);
}

static void
strip_member(struct json *of, const char *key)
{
	json_set(of, key,
	    plan_change_texts(json_get(of, key), copy_without_mark, NULL));
}

void
ownkeys_strip(struct json *config)
{
	struct json *p;

	for (size_t i = 0; i < 4; i++)
		strip_member(config, command_keys[i]);
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

/* Does each command of a text with ";" between them have the mark? */
static bool
has_prefix_marks(const char *text)
{
	const char *why;
	bool marked = false, all = true;
	size_t n = 0;
	char **words = words_split(text, &n, &why);

	for (size_t i = 0; i < n && words; i++)
		if (strcmp(words[i], ";") == 0) {
			all = all && marked;
			marked = false;
		} else
			marked = marked || strstr(words[i], MARK);
	words_free(words);
	return all && marked;
}

/* Returns what is wrong with a command, or with one of a list; or NULL. */
static char *
check_commands(const struct json *j)
{
	const char *text = json_str(j);
	char *why = NULL;

	if (text && !is_builtin_test(text) && !has_prefix_marks(text))
		return mem_printf("--no-flush needs a prefix on all keys: "
				  "put " MARK " in front of each key and index "
				  "of '%s'",
		    text);
	for (j = json_first(j); j && !why; j = json_next(j))
		why = check_commands(j);
	return why;
}

char *
ownkeys_explain(const struct json *cas)
{
	const struct json *c = json_get(cas, "config"), *j;
	bool mixed = json_get(c, "writes") || json_get(c, "reads");
	char *why = NULL;

	if (strcmp(bench_case_engine(c), BENCH_CASE_NATIVE) != 0)
		return mem_str("--no-flush needs a prefix on all keys, which "
			       "this engine does not support");
	if (json_get(c, "config_set"))
		return mem_str("its config_set would change a running server, "
			       "which --no-flush forbids; use "
			       "--skip-config-set");
	for (size_t i = mixed ? 1 : 0; i < 4 && !why; i++)
		why = check_commands(json_get(c, command_keys[i]));
	for (size_t i = 0; i < 2; i++)
		for (j = json_first(json_get(c, side_keys[i])); j && !why;
		     j = json_next(j))
			why = check_commands(json_get(j, "command"));
	return why;
}
