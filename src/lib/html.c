#include "html.h"
#include "base64.h"
#include "err.h"
#include "hash.h"
#include "json.h"
#include "markup.h"
#include "str.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

void
html_text(struct str *s, const char *text)
{
	markup_xml(s, text);
}

void
html_tag(struct str *s, const char *tag, const char *class, const char *text)
{
	str_printf(s, class ? "<%s class=\"%s\">" : "<%s>", tag, class);
	markup_xml(s, text);
	str_printf(s, "</%s>", tag);
}

static void
add_head(struct str *s, const char *title, size_t n, bool number)
{
	struct str t = {0};

	str_addn(&t, title, n);
	markup_printf(s,
	    number ? "<th scope=\"col\" class=\"n\">%s</th>"
		   : "<th scope=\"col\">%s</th>",
	    t.s);
	str_free(&t);
}

void
html_table(struct str *s, const char *label, const char *caption,
    const char *columns, const char *const *names, size_t n)
{
	markup_printf(s,
	    "<div class=\"scroll\" tabindex=\"0\" role=\"region\" "
	    "aria-label=\"%s\">\n<table>\n",
	    label);
	if (caption)
		markup_printf(s, "<caption>%s</caption>\n", caption);
	str_add(s, "<thead><tr>");
	for (const char *c = columns; *c; c += *c == '|') {
		bool number = *c == '>';
		size_t len = strcspn(c += number, "|");

		add_head(s, c, len, number);
		c += len;
	}
	for (size_t i = 0; i < n; i++)
		add_head(s, names[i], strlen(names[i]), false);
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
	markup_printf(s, "<tr><th scope=\"row\">%s</th>", head);
}

void
html_members(struct str *s, const struct json *object)
{
	for (const struct json *j = json_first(object); j; j = json_next(j)) {
		markup_printf(s, "<dt>%s</dt><dd>", json_key(j));
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
	char *text = j && !json_str(j) ? json_print(j) : NULL;

	markup_xml(s, text ? text : j ? json_str(j) : "-");
	free(text);
}

void
html_source_hash(struct str *s, const char *text)
{
	unsigned char sum[32];

	hash_bytes(text, strlen(text), sum);
	str_add(s, "'sha256-");
	base64_encode(s, sum, sizeof sum);
	str_addc(s, '\'');
}

int
html_check_url(const char *option, const char *url)
{
	if (str_starts(url, "https://") || str_starts(url, "http://"))
		return 0;
	return err_fail(
	    "option '%s': '%s' does not begin with https:// or http://", option,
	    url);
}
