#include "html.h"
#include "asset.h"
#include "base64.h"
#include "err.h"
#include "hash.h"
#include "json.h"
#include "markup.h"
#include "num.h"
#include "str.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

extern const char html_style[], html_script[], flame_style[], flame_script[];
ASSET(html_style, "src/lib/html.css");
ASSET(html_script, "src/lib/html.js");
ASSET(flame_style, "src/lib/flame.css");
ASSET(flame_script, "src/lib/flame.js");

const char *
html_flame_style(void)
{
	return flame_style;
}

const char *
html_flame_script(void)
{
	return flame_script;
}

/* Appends 'sha256-...', by which a content security policy allows a style or a
 * script. It is also the policy of frames whose content is in the page. */
static void
add_source_hash(struct str *s, const char *text)
{
	unsigned char sum[32];

	hash_bytes(text, strlen(text), sum);
	str_add(s, "'sha256-");
	base64_encode(s, sum, sizeof sum);
	str_addc(s, '\'');
}

/* Adds what a style or script element holds, or its hash. */
static void
add_source(struct str *s, const char *base, const char *own, bool hash)
{
	struct str t = {0};

	str_printf(&t, "%s%s", base, own ? own : "");
	if (hash)
		add_source_hash(s, t.s);
	else
		str_addn(s, t.s, t.len);
	str_free(&t);
}

void
html_begin(struct str *s, const struct html_page *p)
{
	str_add(s,
	    "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n"
	    "<meta charset=\"utf-8\">\n"
	    "<meta http-equiv=\"Content-Security-Policy\" content=\""
	    "default-src 'none'; base-uri 'none'; form-action 'none'; "
	    "style-src ");
	add_source(s, html_style, p->style, true);
	if (p->flames) {
		str_addc(s, ' ');
		add_source_hash(s, flame_style);
	}
	str_add(s, "; script-src ");
	add_source(s, html_script, p->script, true);
	if (p->flames) {
		str_addc(s, ' ');
		add_source_hash(s, flame_script);
	}
	markup_printf(s,
	    "\">\n<meta name=\"viewport\" content=\"width=device-width, "
	    "initial-scale=1\">\n"
	    "<meta name=\"color-scheme\" content=\"light dark\">\n"
	    "<meta name=\"generator\" content=\"%s\">\n"
	    "<title>%s</title>\n",
	    p->program, p->title);
	str_add(s, "<style>");
	add_source(s, html_style, p->style, false);
	str_add(s, "</style>\n</head>\n<body>\n");
}

void
html_end(struct str *s, const struct html_page *p)
{
	str_add(s, "<script>");
	add_source(s, html_script, p->script, false);
	str_add(s, "</script>\n</body>\n</html>\n");
}

static void
add_filter(struct str *s, const struct html_filter *f)
{
	markup_printf(s,
	    "<label>%s <select data-key=\"%s\"><option value=\"\">all"
	    "</option>",
	    f->label, f->key);
	for (size_t i = 0; i < f->n; i++)
		markup_printf(s, "<option value=\"%s\">%s</option>",
		    f->values[i], f->texts[i]);
	str_add(s, "</select></label>\n");
}

void
html_browse(struct str *s, size_t page, const char *find,
    const struct html_filter *filters, size_t n)
{
	str_printf(s, "<div class=\"browse\" data-page=\"%zu\">\n", page);
	if (!find)
		return;
	markup_printf(s,
	    "<div class=\"controls\" role=\"search\" hidden>\n<label>%s "
	    "<input type=\"search\" autocomplete=\"off\" "
	    "spellcheck=\"false\"></label>\n",
	    find);
	for (size_t i = 0; i < n; i++)
		add_filter(s, &filters[i]);
	str_add(s, "</div>\n");
}

void
html_browse_end(struct str *s)
{
	str_add(s, "</div>\n");
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
	char buf[NUM_BUF];

	str_add(s, isnan(v) ? "-" : num_human(buf, v));
}

void
html_number_cell(struct str *s, double v)
{
	str_printf(s, "<td class=\"n\" data-v=\"%.9g\">", isnan(v) ? 0 : v);
	html_number(s, v);
	str_add(s, "</td>");
}

void
html_value(struct str *s, const struct json *j)
{
	char *text = j && !json_str(j) ? json_print(j) : NULL;

	markup_xml(s, text ? text : j ? json_str(j) : "-");
	free(text);
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
