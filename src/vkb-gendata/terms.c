#include "terms.h"
#include "csvrows.h"
#include "err.h"
#include "mem.h"
#include "recipe.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define CHARACTERS 3

struct term_reader {
	FILE *f;
	const char *name;
	char *line;
	size_t cap;
};

static int
read_term_line(void *arg, const char **line, size_t *n)
{
	struct term_reader *x = arg;
	ssize_t k = getline(&x->line, &x->cap, x->f);

	if (k < 0)
		return ferror(x->f) ? err_fail_sys("cannot read '%s'", x->name)
				    : 0;
	*line = x->line;
	*n = (size_t)k;
	return 1;
}

static bool
is_stop_word(const char *s)
{
	static const char *const words[] = {"a", "an", "and", "are", "as", "at",
	    "be", "but", "by", "for", "if", "in", "into", "is", "it", "no",
	    "not", "of", "on", "or", "such", "that", "the", "their", "then",
	    "there", "these", "they", "this", "to", "was", "will", "with"};

	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (strcasecmp(s, words[i]) == 0)
			return true;
	return false;
}

static bool
begins_character(char c)
{
	return ((unsigned char)c & 0xc0) != 0x80;
}

static char *
trim_term(const char *s)
{
	size_t n = strlen(s);

	while (n && isspace((unsigned char)s[n - 1]))
		n--;
	for (; n && isspace((unsigned char)*s); s++)
		n--;
	return mem_strn(s, n);
}

static char *
cut_term(const char *s, bool last)
{
	size_t i = last ? strlen(s) : 0;

	for (int k = 0; last && i && k < CHARACTERS;)
		k += begins_character(s[--i]);
	for (int k = 0; !last && s[i]; i++) {
		k += begins_character(s[i]);
		if (k > CHARACTERS)
			break;
	}
	return last ? mem_str(s + i) : mem_strn(s, i);
}

int
terms_read(const char *file, bool last, size_t most, struct transform *t)
{
	struct term_reader x = {.f = fopen(file, "re"), .name = file};
	struct csvrows *rows;
	const char *const *v, *why;
	size_t n;
	bool first = true;
	int got = 0;

	if (!x.f)
		return err_fail_sys("cannot read '%s'", file);
	rows = csvrows_new(',', read_term_line, &x);
	while (
	    t->nlist < most && (got = csvrows_next(rows, &v, &n, &why)) > 0) {
		char *term = n ? trim_term(*v) : mem_str("");

		/* The Python tool takes a heading that begins with "term" for
		 * a term, and any other first row for a heading. */
		if (*term && !is_stop_word(term) &&
		    (!first || strncasecmp(x.line, "term", 4) == 0))
			recipe_add_text(t, cut_term(term, last));
		first = false;
		free(term);
	}
	if (got < 0 && why)
		err_say("%s: %s", file, why);
	csvrows_free(rows);
	free(x.line);
	fclose(x.f);
	return got < 0 ? -1 : 0;
}
