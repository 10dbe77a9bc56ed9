#include "words.h"
#include "mem.h"
#include "str.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* One word from *text on; false, and *why: it does not end. */
static bool
word(const char **text, struct str *to, const char **why)
{
	const char *p = *text;
	char quote = 0;

	for (; *p && (quote || !strchr(" \t\n", *p)); p++) {
		if (*p == '\\' && quote != '\'') {
			if (!p[1]) {
				*why = "a backslash is its last character";
				return false;
			}
			/* In double quotes it quotes these alone. */
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

/* A line that goes on in the next one is no word. */
static const char *
begin(const char *p)
{
	for (;;)
		if (*p && strchr(" \t\n", *p))
			p++;
		else if (p[0] == '\\' && p[1] == '\n')
			p += 2;
		else
			return p;
}

char **
words_split(const char *text, size_t *n, const char **why)
{
	char **list = mem_array(1, sizeof *list);
	struct str s;

	*n = 0;
	while (*(text = begin(text))) {
		s = (struct str){0};
		if (!word(&text, &s, why)) {
			str_free(&s);
			words_free(list);
			return NULL;
		}
		list = mem_resize(list, *n + 2, sizeof *list);
		list[(*n)++] = str_take(&s);
		list[*n] = NULL;
	}
	return list;
}

void
words_free(char **list)
{
	for (char **w = list; w && *w; w++)
		free(*w);
	free(list);
}
