/* Words of a command line, split as by a POSIX shell. */
#include "tap.h"

#include "mem.h"
#include "str.h"
#include "vkb-load/engine/command.h"
#include "vkb-load/external/vbench.h"

#include <stdlib.h>

/* "[a][b c]" of a list. */
static char *
show(char *const *list)
{
	struct str s = {0};

	str_add(&s, "");
	for (; list && *list; list++)
		str_printf(&s, "[%s]", *list);
	return str_take(&s);
}

/* Checks the commands of a text, as "2*[SET][a] 1*[GET][b]". */
static void
commands(const char *text, const char *want)
{
	struct str got = {0};
	unsigned long times;
	const char *why;
	size_t n, k;
	char **list = command_split(text, &n, &why);

	str_add(&got, "");
	for (size_t at = 0; (k = command_next(list, n, &at, &times));
	     at += k + 1) {
		str_printf(&got, "%s%lu*", got.len ? " " : "", times);
		for (size_t i = 0; i < k; i++)
			str_printf(&got, "[%s]", list[at + i]);
	}
	tap_ok(
	    strcmp(got.s, want) == 0, "<%s> has %s, not %s", text, want, got.s);
	mem_free_list(list);
	str_free(&got);
}

/* Checks the words, and that they are the same after quoting them. */
static void
is(const char *text, const char *want)
{
	struct str name = {0};
	const char *why = NULL;
	size_t n = 77, m = 0, count = 0;
	char **list = command_split(text, &n, &why);
	char *got = show(list), *line, *again;
	char **second;

	str_add(&name, "");
	str_visible(&name, text);
	while (list && list[count])
		count++;
	if (!tap_ok(list && n == count && !why && strcmp(got, want) == 0,
		"<%s>", name.s))
		printf("# got %s, wanted %s\n", got, want);
	line = vbench_text(list);
	second = command_split(line, &m, &why);
	again = show(second);
	if (!tap_ok(
		second && m == n && strcmp(again, got) == 0, "quoted again"))
		printf("# got %s\n", again);
	mem_free_list(second);
	mem_free_list(list);
	free(line);
	str_free(&name);
	free(again);
	free(got);
}

static void
is_none(const char *text, const char *want)
{
	const char *why = NULL;
	size_t n;
	char **list = command_split(text, &n, &why);

	tap_ok(!list, "<%s> cannot be split", text);
	tap_str(why, want, "the message has the reason");
	mem_free_list(list);
}

int
main(void)
{
	is("", "");
	is(" \t\n ", "");
	is("GET", "[GET]");
	is("  SET\tkey:__rand_int__\n__data__ ",
	    "[SET][key:__rand_int__][__data__]");
	is("''", "[]");
	is("\"\" a ''", "[][a][]");
	is("'a  b' \"c  d\"", "[a  b][c  d]");
	is("a'b'\"c\"d", "[abcd]");
	is("'it'\\''s'", "[it's]");
	is("\"it's\" 'say \"x\"'", "[it's][say \"x\"]");
	is("a\\ b \\'c \\\\ \\a", "[a b]['c][\\][a]");
	is("'a\\b' '\\'", "[a\\b][\\]");
	is("\"a\\\"b\\\\c\\$d\\`e\\n\"", "[a\"b\\c$d`e\\n]");
	is("'a\nb' \"c\nd\"", "[a\nb][c\nd]");
	is("$HOME `id` $(id) * ~ # ; | > < & !",
	    "[$HOME][`id`][$(id)][*][~][#][;][|][>][<][&][!]");
	is("MULTI; INCR a ;EXEC;", "[MULTI][;][INCR][a][;EXEC][;]");
	is("SET a;b 'c;' d\\; \"e\"; ;; f",
	    "[SET][a;b][c;][d;][e][;][;][;][f]");
	is("a\\\nb", "[ab]");
	is("a \\\n b", "[a][b]");
	is("\\\n", "");
	is("\\\n\\\n a\\\n", "[a]");
	is("\"a\\\nb\"", "[ab]");
	is("'a\\\nb'", "[a\\\nb]");
	is("\xc3\xa4\xff\x01\r", "[\xc3\xa4\xff\x01\r]");
	is_none("'", "a quote is not closed");
	is_none("a b \"c", "a quote is not closed");
	is_none("a '\"", "a quote is not closed");
	is_none("\"\\\"", "a quote is not closed");
	is_none("\\", "a backslash is its last character");
	is_none("a \"b\\", "a backslash is its last character");
	mem_free_list(NULL);
	commands("", "");
	commands("SET a b", "1*[SET][a][b]");
	commands("3 SET a b ; GET c", "3*[SET][a][b] 1*[GET][c]");
	commands(
	    "MULTI; INCR 7; 2 GET 3 ;", "1*[MULTI] 1*[INCR][7] 2*[GET][3]");
	commands("; ; 5 ; 6", "1*[5] 1*[6]");
	return tap_done();
}
