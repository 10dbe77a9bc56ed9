#include "words.h"
#include "mem.h"
#include "str.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static int
hex_value(char c)
{
	return c >= '0' && c <= '9' ? c - '0'
	    : c >= 'a' && c <= 'f'  ? c - 'a' + 10
	    : c >= 'A' && c <= 'F'  ? c - 'A' + 10
				    : -1;
}

/* Is it a ";" that ends a word, and is a word of its own behind it? */
static bool
is_separator(const char *p, const char *start)
{
	return *p == ';' && p != start && (!p[1] || strchr(" \t\n", p[1]));
}

/* Parses one word of *text. Returns false and *why if it does not end. */
static bool
parse_word(const char **text, bool bytes, struct str *to, const char **why)
{
	const char *p = *text;
	char quote = 0;

	for (;
	     *p && (quote || (!strchr(" \t\n", *p) && !is_separator(p, *text)));
	     p++) {
		if (bytes && quote == '"' && p[0] == '\\' && p[1] == 'x' &&
		    hex_value(p[2]) >= 0 && hex_value(p[3]) >= 0) {
			str_addc(
			    to, (char)(hex_value(p[2]) << 4 | hex_value(p[3])));
			p += 3;
		} else if (*p == '\\' && quote != '\'') {
			if (!p[1]) {
				*why = "a backslash is its last character";
				return false;
			}
			/* In double quotes a backslash quotes only these. */
			if (quote && !strchr("\\\"$`\n", p[1]))
				str_addc(to, '\\');
			p++;
			if (*p != '\n')
				str_addc(to, *p);
		} else if (*p == quote)
			quote = 0;
		else if (!quote && (*p == '\'' || *p == '"'))
			quote = *p;
		else
			str_addc(to, *p);
	}
	*text = p;
	if (quote)
		*why = "a quote is not closed";
	return !quote;
}

/* Skips blanks and line continuations. */
static const char *
skip_blanks(const char *p)
{
	for (;;)
		if (*p && strchr(" \t\n", *p))
			p++;
		else if (p[0] == '\\' && p[1] == '\n')
			p += 2;
		else
			return p;
}

int
words_next(const char **text, bool bytes, struct str *to, const char **why)
{
	*text = skip_blanks(*text);
	if (!**text)
		return 0;
	return parse_word(text, bytes, to, why) ? 1 : -1;
}

char **
words_split(const char *text, size_t *n, const char **why)
{
	char **list = mem_array(1, sizeof *list);
	struct str s = {0};
	int k;

	*n = 0;
	while ((k = words_next(&text, false, &s, why)) > 0) {
		list = mem_resize(list, *n + 2, sizeof *list);
		list[(*n)++] = str_take(&s);
		list[*n] = NULL;
		s = (struct str){0};
	}
	str_free(&s);
	if (k < 0) {
		mem_free_list(list);
		return NULL;
	}
	return list;
}

size_t
words_command(char *const *list, size_t n, size_t *from, unsigned long *times)
{
	unsigned long count = 1;
	size_t end;

	while (*from < n && strcmp(list[*from], ";") == 0)
		++*from;
	if (*from + 1 < n && strcmp(list[*from + 1], ";") != 0 &&
	    list[*from][strspn(list[*from], "0123456789")] == '\0' &&
	    *list[*from])
		count = strtoul(list[(*from)++], NULL, 10);
	for (end = *from; end < n && strcmp(list[end], ";") != 0; end++)
		continue;
	if (times)
		*times = count;
	return end - *from;
}

char *
words_expand_prefix(const char *text, const char *prefix)
{
	struct str s = {0};
	const char *at;

	for (; (at = strstr(text, WORDS_PREFIX));
	     text = at + strlen(WORDS_PREFIX)) {
		str_addn(&s, text, (size_t)(at - text));
		str_add(&s, prefix ? prefix : "");
	}
	str_add(&s, text);
	return str_take(&s);
}
