#include "html.h"
#include "json.h"
#include "markup.h"
#include "mem.h"
#include "model.h"
#include "str.h"

#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void
html_text(struct str *s, const char *text)
{
	markup_xml(s, text);
}

void
html_printf(struct str *s, const char *fmt, ...)
{
	char buf[1024];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(buf, sizeof buf, fmt, ap);
	va_end(ap);
	markup_xml(s, buf);
}

void
html_tag(struct str *s, const char *tag, const char *class, const char *text)
{
	str_printf(s, class ? "<%s class=\"%s\">" : "<%s>", tag, class);
	markup_xml(s, text);
	str_printf(s, "</%s>", tag);
}

void
html_table(struct str *s, const char *label, const char *caption,
    const char *const *columns)
{
	str_add(s,
	    "<div class=\"scroll\" tabindex=\"0\" role=\"region\" "
	    "aria-label=\"");
	markup_xml(s, label);
	str_add(s, "\">\n<table>\n");
	if (caption) {
		html_tag(s, "caption", NULL, caption);
		str_addc(s, '\n');
	}
	str_add(s, "<thead><tr>");
	for (; *columns; columns++) {
		str_add(s, "<th scope=\"col\">");
		markup_xml(s, *columns);
		str_add(s, "</th>");
	}
	str_add(s, "</tr></thead>\n<tbody>\n");
}

void
html_table_end(struct str *s)
{
	str_add(s, "</tbody></table></div>\n");
}

void
html_row(struct str *s, const char *head)
{
	str_add(s, "<tr><th scope=\"row\">");
	markup_xml(s, head);
	str_add(s, "</th>");
}

void
html_members(struct str *s, const struct json *object)
{
	for (const struct json *j = json_first(object); j; j = json_next(j)) {
		html_tag(s, "dt", NULL, json_key(j));
		str_add(s, "<dd>");
		html_value(s, j);
		str_add(s, "</dd>\n");
	}
}

void
html_number(struct str *s, double v)
{
	if (isnan(v))
		str_add(s, "-");
	else if (fabs(v) >= 1e5)
		str_printf(s, "%.0f", v);
	else
		str_printf(s, "%.5g", v);
}

void
html_value(struct str *s, const struct json *j)
{
	char *text;

	if (json_str(j)) {
		markup_xml(s, json_str(j));
		return;
	}
	text = json_print(j);
	markup_xml(s, text);
	free(text);
}

int
html_check_url(const char *url)
{
	return str_starts(url, "https://") || str_starts(url, "http://") ? 0
									 : -1;
}

static bool
is_plain(const char *s, const char *more)
{
	static const char letters[] =
	    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
	size_t n = 0;

	while (s[n] && (strchr(letters, s[n]) || strchr(more, s[n])))
		n++;
	return n && !s[n];
}

/* Returns the URL before a commit id (caller frees), or NULL if unknown. */
static char *
format_commit_url(const struct json *subject)
{
	const char *r = json_get_str(subject, "repository");
	size_t n = r ? strlen(r) : 0;

	if (!n || str_starts(r, "/") || str_starts(r, "."))
		return NULL;
	if (str_ends(r, ".git"))
		n -= 4;
	if (str_starts(r, "https://"))
		return mem_printf("%.*s/commit/", (int)n, r);
	if (is_plain(r, "/-_.") && strchr(r, '/') &&
	    !strchr(strchr(r, '/') + 1, '/'))
		return mem_printf("https://github.com/%.*s/commit/", (int)n, r);
	return NULL;
}

void
html_subject(struct str *s, const struct subject *subject, const char *url)
{
	const char *commit = json_get_str(subject->json, "commit");
	char *page = url ? mem_str(url) : format_commit_url(subject->json);

	if (commit && is_plain(commit, "") && page) {
		str_add(s, "<a rel=\"noreferrer\" href=\"");
		markup_xml(s, page);
		markup_xml(s, commit);
		str_add(s, "\">");
		markup_xml(s, subject->name);
		str_add(s, "</a>");
	} else
		markup_xml(s, subject->name);
	free(page);
}
