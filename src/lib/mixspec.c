#include "mixspec.h"
#include "json.h"
#include "mem.h"
#include "num.h"
#include "str.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define WEIGHT_LEAST .000001
#define WEIGHT_MOST 1e9

void
mixspec_free(struct mixspec *m)
{
	for (size_t i = 0; i < m->n; i++)
		free(m->v[i].command);
	m->n = 0;
}

bool
mixspec_is_test(const char *command)
{
	return !command[strcspn(command, " \t\r\n\f\v")];
}

/* Returns the name of a test in its only form. Caller frees. */
static char *
format_test(const char *command)
{
	char *name = str_upper(command);

	if (strcmp(name, "LRANGE") != 0)
		return name;
	free(name);
	return mem_str("LRANGE_100");
}

/* Adds a command, which it takes. Returns NULL, or why it cannot. */
static char *
add_part(struct mixspec *m, char *command, double weight)
{
	char *why = NULL, *name = NULL;

	if (mixspec_is_test(command)) {
		name = format_test(command);
		free(command);
		command = name;
	}
	if (!command[strspn(command, " \t\r\n\f\v")])
		why = mem_str("a command is empty");
	else if (!(weight >= WEIGHT_LEAST && weight <= WEIGHT_MOST))
		why = mem_printf("the weight of '%s' is not a number from "
				 "%.6f to %.0f",
		    command, WEIGHT_LEAST, WEIGHT_MOST);
	else if (m->n == MIXSPEC_MOST)
		why = mem_printf("it has more than %d commands", MIXSPEC_MOST);
	for (size_t i = 0; i < m->n && !why; i++)
		if (strcmp(m->v[i].command, command) == 0)
			why = mem_printf("'%s' comes twice", command);
	if (why)
		free(command);
	else
		m->v[m->n++] = (struct mixspec_part){command, weight};
	return why;
}

/* Reads a quoted command. Returns it, or NULL if it does not end. */
static char *
read_quoted(const char **text)
{
	const char *p = *text;
	struct str s = {0};
	char quote = *p++;

	for (; *p; p++) {
		if (*p == quote && p[1] != quote) {
			*text = p + 1;
			str_add(&s, "");
			return str_take(&s);
		}
		p += *p == quote;
		str_addc(&s, *p);
	}
	str_free(&s);
	return NULL;
}

static char *
read_word(const char **text)
{
	size_t n = strcspn(*text, " \t\r\n,");
	char *word = mem_strn(*text, n);

	*text += n;
	return word;
}

static void
skip_blanks(const char **text, const char *blanks)
{
	*text += strspn(*text, blanks);
}

/* Reads a command and its weight. Returns NULL, or what is wrong. */
static char *
read_part(const char **text, struct mixspec *m)
{
	bool quoted = **text == '\'' || **text == '"';
	const char *quote = *text;
	char *command = quoted ? read_quoted(text) : read_word(text), *word;
	char *why = NULL;
	double weight = NAN;

	if (!command)
		return mem_printf("the quote in %s is not closed", quote);
	skip_blanks(text, " \t\r\n");
	word = read_word(text);
	if (num_real(word, &weight) < 0)
		why = *word
		    ? mem_printf("'%s' behind '%s' is not a weight: a command "
				 "with arguments needs quotes",
			  word, command)
		    : mem_printf("'%s' has no weight behind it", command);
	free(word);
	if (!why)
		return add_part(m, command, weight);
	free(command);
	return why;
}

char *
mixspec_parse(const char *text, struct mixspec *m)
{
	char *why = NULL;

	m->n = 0;
	skip_blanks(&text, " \t\r\n");
	while (*text && !why) {
		why = read_part(&text, m);
		skip_blanks(&text, " \t\r\n");
		if (m->n && *text == ',') {
			text++;
			skip_blanks(&text, " \t\r\n");
		}
	}
	if (!why && !m->n)
		why = mem_str("it has no commands");
	if (why)
		mixspec_free(m);
	return why;
}

static void
add_quoted(struct str *s, const char *command)
{
	char quote = strchr(command, '\'') ? '"' : '\'';

	str_addc(s, quote);
	for (; *command; command++) {
		if (*command == quote)
			str_addc(s, quote);
		str_addc(s, *command);
	}
	str_addc(s, quote);
}

char *
mixspec_format(const struct mixspec *m)
{
	struct str s = {0};
	const char *command;

	for (size_t i = 0; i < m->n; i++) {
		command = m->v[i].command;
		str_add(&s, i ? ", " : "");
		if (mixspec_is_test(command) && !strpbrk(command, "'\","))
			str_add(&s, command);
		else
			add_quoted(&s, command);
		str_addc(&s, ' ');
		num_append(&s, m->v[i].weight);
	}
	return str_take(&s);
}

char *
mixspec_read(const struct json *list, struct mixspec *m)
{
	const char *command;
	char *why = NULL;
	size_t i = 0;

	m->n = 0;
	for (const struct json *v = json_first(list); v && !why;
	     v = json_next(v), i++) {
		command = json_get_str(v, "command");
		why = !command
		    ? mem_printf("its element [%zu] has no 'command'", i)
		    : !json_get(v, "weight")
		    ? mem_printf("'%s' has no 'weight'", command)
		    : add_part(
			  m, mem_str(command), json_get_num(v, "weight", NAN));
		for (const struct json *k = json_first(v); k && !why;
		     k = json_next(k))
			if (strcmp(json_key(k), "command") != 0 &&
			    strcmp(json_key(k), "weight") != 0)
				why = mem_printf("'%s' is an unknown key: use "
						 "'command' and 'weight'",
				    json_key(k));
	}
	if (!why && !m->n)
		why = mem_str("it has no commands");
	if (why)
		mixspec_free(m);
	return why;
}
