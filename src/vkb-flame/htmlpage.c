#include "htmlpage.h"
#include "asset.h"
#include "flame.h"
#include "functions.h"
#include "html.h"
#include "markup.h"
#include "mem.h"
#include "num.h"
#include "str.h"
#include "svg.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 50 }; /* of the table that are shown at once */

extern const char own_style[];
ASSET(own_style, "src/vkb-flame/htmlpage.css");

/* Writes a link that searches the graph for the function of this name. */
static void
write_search_link(struct str *s, const char *name)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyz"
				    "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";

	str_add(s, "<a href=\"#search=%5E");
	for (const char *c = name; *c; c++) {
		if (strchr(".*+?^${}()|[]\\", *c))
			str_add(s, "%5C");
		if (strchr(plain, *c))
			str_addc(s, *c);
		else
			str_printf(s, "%%%02X", (unsigned char)*c);
	}
	markup_printf(s, "%%24\">%s</a>", name);
}

/* Writes a share as "12.3%", a count as "1.04K"; changes with their sign. */
static void
write_value(
    struct str *s, const struct functions_of *f, double v, const char *plus)
{
	char buf[NUM_BUF];

	str_printf(
	    s, "<td class=\"n\" data-v=\"%.9g\">%s", v, v >= 0 ? plus : "");
	if (f->unit)
		str_add(s, num_human(buf, v));
	else
		str_printf(s, "%.2f%%", 100 * v);
	str_add(s, "</td>");
}

static void
write_values(struct str *s, const struct functions_of *f, const double v[2])
{
	if (f->diff) {
		write_value(s, f, v[0], "");
		write_value(s, f, v[1], "");
		write_value(s, f, v[1] - v[0], "+");
	} else
		write_value(s, f, v[1], "");
}

static void
write_row(struct str *s, const struct functions_of *f, const struct function *v)
{
	str_add(s, "<tr><th scope=\"row\">");
	write_search_link(s, v->name);
	str_add(s, "</th>");
	write_values(s, f, v->total);
	if (f->diff) {
		markup_printf(s, "<td>%s", functions_describe(f, v));
		if (!isnan(v->p))
			str_printf(s, ", p = %.2g", v->p);
		str_add(s, "</td>");
	}
	write_values(s, f, v->self);
	str_add(s, "</tr>\n");
}

static void
write_functions(struct str *s, const struct functions_of *f)
{
	struct str caption = {0};
	size_t n;
	struct function *v = functions_list(f, &n);

	str_printf(&caption,
	    "%s. Total: with all that a function calls; "
	    "self: without.",
	    f->unit ? f->unit : "Shares of all samples");
	str_add(s, "<section id=\"functions\">\n<h2>Functions</h2>\n");
	html_browse(s, ROWS, "Function", NULL, 0);
	html_table(s, "Functions", caption.s,
	    f->diff
		? "function|>total before|>after|>change|verdict|>self before|"
		  ">after|>change"
		: "function|>total|>self",
	    NULL, 0);
	for (size_t i = 0; i < n; i++)
		write_row(s, f, &v[i]);
	html_table_end(s);
	html_browse_end(s);
	str_add(s, "</section>\n");
	str_free(&caption);
	free(v);
}

void
htmlpage_write(
    struct str *s, const struct functions_of *f, const struct svg_opts *o)
{
	char *style = mem_printf("%s%s", flame_get_style(), own_style);
	const struct html_page page = {.title = svg_title(f->diff, o),
	    .program = "vkb-flame",
	    .style = style,
	    .script = flame_get_script()};
	struct svg_opts within = *o;

	within.inlined = true;
	html_begin(s, &page);
	markup_printf(s, "<header><h1>%s</h1></header>\n<main>\n", page.title);
	svg_write(s, f->tree, f->diff, &within);
	write_functions(s, f);
	str_add(s, "</main>\n");
	html_end(s, &page);
	free(style);
}
