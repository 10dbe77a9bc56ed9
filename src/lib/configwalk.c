#include "configwalk.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void
configwalk_vproblem(struct configwalk *w, const char *fmt, va_list ap)
{
	struct str line = {0};
	char *text;

	if (vasprintf(&text, fmt, ap) < 0)
		err_die("out of memory");
	str_visible(&line, w->path.s); /* names may hold anything */
	str_add(&line, ": ");
	str_visible(&line, text);
	err_say("%s: %s", w->name, line.s);
	str_free(&line);
	free(text);
	w->problems++;
}

void
configwalk_problem(struct configwalk *w, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	configwalk_vproblem(w, fmt, ap);
	va_end(ap);
}

size_t
configwalk_key(struct configwalk *w, const char *key)
{
	size_t len = w->path.len;
	bool plain = *key != '\0';

	for (const char *s = key; *s; s++)
		plain =
		    plain && (isalnum((unsigned char)*s) || strchr("_-", *s));
	str_printf(&w->path, plain ? ".%s" : "['%s']", key);
	return len;
}

size_t
configwalk_index(struct configwalk *w, size_t i)
{
	size_t len = w->path.len;

	str_printf(&w->path, "[%zu]", i);
	return len;
}

void
configwalk_leave(struct configwalk *w, size_t len)
{
	w->path.len = len;
	w->path.s[len] = '\0';
}
