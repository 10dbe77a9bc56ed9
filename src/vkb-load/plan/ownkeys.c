#include "ownkeys.h"
#include "benchcase.h"
#include "json.h"
#include "mem.h"
#include "mixspec.h"
#include "plan.h"
#include "str.h"
#include "vkb-load/engine/command.h"
#include "vkb-load/engine/words.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define MARK WORDS_PREFIX
#define DIGITS "0123456789"
#define SCRIPTS "EVAL EVALSHA FCALL" /* may write keys they do not name */

/* Members of a configuration that hold commands, or lists of them. */
static const char *const command_keys[] = {
    "command", "populate_with", "setup_commands", "teardown_commands"};
#define FIRST_SETUP 2 /* the members from here on are sent once, and whole */
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

/*
 * The words of commands that are keys; word 0 is the name. 'last' counts from
 * the end if it is below 0. 'count' is the word with the number of keys behind
 * it; before it is only the key 'first', or 0.
 */
static const struct key_places {
	const char *commands;
	int first, last, step, count;
} key_places[] = {{"DEL UNLINK EXISTS TOUCH WATCH MGET PFCOUNT PFMERGE SDIFF "
		   "SDIFFSTORE SINTER SINTERSTORE SUNION SUNIONSTORE",
		      1, -1, 1, 0},
    {"MSET MSETNX", 1, -1, 2, 0}, {"JSON.MSET TS.MADD", 1, -1, 3, 0},
    {"BLPOP BRPOP BZPOPMAX BZPOPMIN JSON.MGET", 1, -2, 1, 0},
    {"COPY RENAME RENAMENX LCS SMOVE LMOVE BLMOVE RPOPLPUSH BRPOPLPUSH "
     "GEOSEARCHSTORE ZRANGESTORE TS.CREATERULE",
	1, 2, 1, 0},
    {"BITOP", 2, -1, 1, 0}, {"OBJECT MEMORY XGROUP XINFO", 2, 2, 1, 0},
    {"SINTERCARD ZINTERCARD ZDIFF ZINTER ZUNION LMPOP ZMPOP", 0, 0, 1, 1},
    {"BLMPOP BZMPOP EVAL_RO EVALSHA_RO FCALL_RO", 0, 0, 1, 2},
    {"ZDIFFSTORE ZINTERSTORE ZUNIONSTORE", 1, 1, 1, 2}, {SCRIPTS, 0, 0, 1, 0},
    /* All others have one key. */
    {NULL, 1, 1, 1, 0}};

/* Do the words first, first + step, ... last begin with the mark? */
static bool
are_marked(char *const *words, int n, int first, int last, int step)
{
	for (int i = first; i <= last; i += step)
		if (i >= n || !str_starts(words[i], MARK))
			return false;
	return first > 0 && first <= last;
}

static bool
is_one_of(const char *word, const char *names)
{
	char *upper = str_upper(word);
	bool yes = str_has_part(names, upper, ' ');

	free(upper);
	return yes;
}

/* Are all keys of a command ours, of which it has one at least? */
static bool
has_own_keys(char *const *words, int n)
{
	const struct key_places *p = key_places;
	const char *name = n ? words[0] : "";
	int at = 1, last;
	bool own;

	while (p->commands && !is_one_of(name, p->commands))
		p++;
	last = p->last < 0 ? n + p->last : p->last;
	own = are_marked(words, n, p->first, last, p->step);
	if (p->count) {
		last = p->count < n ? atoi(words[p->count]) : 0;
		return (own || !p->first) && last < n &&
		    are_marked(words, n, p->count + 1, p->count + last, 1);
	}
	if (is_one_of(name, "XREAD XREADGROUP")) {
		while (at < n && !is_one_of(words[at], "STREAMS"))
			at++;
		return are_marked(words, n, at + 1, (n + at) / 2, 1);
	}
	if (is_one_of(name, "SORT GEORADIUS GEORADIUSBYMEMBER"))
		for (; own && at < n; at++)
			own = !is_one_of(words[at], "STORE STOREDIST") ||
			    are_marked(words, n, at + 1, at + 1, 1);
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
	bool own = true;
	size_t n = 0, from = 0;
	char **words = words_split(text, &n, &why);

	for (size_t i = 0; i <= n && words; i++) {
		if (i < n && (one || strcmp(words[i], ";") != 0))
			continue;
		if (!one && from < i)
			from += !words[from][strspn(words[from], DIGITS)];
		*script |= from < i && is_one_of(words[from], SCRIPTS);
		own = own && has_own_keys(words + from, (int)(i - from));
		from = i + 1;
	}
	own = own && words;
	mem_free_list(words);
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
