#include "ownkeys.h"
#include "casecheck.h"
#include "json.h"
#include "mem.h"
#include "vkb-load/engine/command.h"
#include "vkb-load/engine/words.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define MARK WORDS_PREFIX

/* The members of a configuration that hold commands, and lists of them. */
static const char *const texts[] = {"command", "populate_with"};
static const char *const lists[] = {"setup_commands", "teardown_commands"};
static const char *const sides[] = {"writes", "reads"};

static void
strip_member(struct json *of, const char *key)
{
	const char *text = json_get_str(of, key);
	char *without;

	if (!text || !strstr(text, MARK))
		return;
	without = words_expand_prefix(text, NULL);
	json_set_str(of, key, without);
	free(without);
}

static void
strip_list(struct json *of, const char *key)
{
	const struct json *list = json_get(of, key);
	struct json *out;
	char *without;

	if (!list)
		return;
	out = json_array();
	for (const struct json *j = json_first(list); j; j = json_next(j)) {
		without =
		    words_expand_prefix(json_str(j) ? json_str(j) : "", NULL);
		json_push(out, json_string(without));
		free(without);
	}
	json_set(of, key, out);
}

void
ownkeys_strip(struct json *config)
{
	for (size_t i = 0; i < 2; i++)
		strip_member(config, texts[i]);
	for (size_t i = 0; i < 2; i++)
		strip_list(config, lists[i]);
	for (size_t i = 0; i < 2; i++)
		for (struct json *p = json_first(json_get(config, sides[i])); p;
		     p = json_next(p))
			strip_member(p, "command");
}

/* Is it a test whose keys we name ourselves? */
static bool
is_named(const char *text)
{
	char *name = mem_str(text);
	bool yes;

	for (char *c = name; *c; c++)
		*c = (char)toupper((unsigned char)*c);
	yes = command_known(name);
	free(name);
	return yes;
}

/* Has each of the commands in turn the mark? */
static bool
is_marked(const char *text)
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

static char *
check_text(const char *text)
{
	if (!text || is_named(text) || is_marked(text))
		return NULL;
	return mem_printf("with --no-flush all keys have a prefix: put " MARK
			  " in front of each key and index of '%s'",
	    text);
}

char *
ownkeys_cannot(const struct json *cas)
{
	const struct json *c = json_get(cas, "config"), *j;
	bool mixed = json_get(c, "writes") || json_get(c, "reads");
	char *why = NULL;

	if (strcmp(casecheck_engine(c), CASECHECK_NATIVE) != 0)
		return mem_str("with --no-flush all keys have a prefix, which "
			       "this engine does not give them");
	if (json_get(c, "config_set"))
		return mem_str("its config_set would change a server that "
			       "--no-flush leaves as it is: "
			       "--skip-config-set leaves it out");
	for (size_t i = mixed ? 1 : 0; i < 2 && !why; i++)
		why = check_text(json_get_str(c, texts[i]));
	for (size_t i = 0; i < 2; i++)
		for (j = json_first(json_get(c, lists[i])); j && !why;
		     j = json_next(j))
			why = check_text(json_str(j));
	for (size_t i = 0; i < 2; i++)
		for (j = json_first(json_get(c, sides[i])); j && !why;
		     j = json_next(j))
			why = check_text(json_get_str(j, "command"));
	return why;
}
