#include "flame.h"
#include "html.h"
#include "json.h"
#include "markup.h"
#include "model.h"
#include "page.h"
#include "str.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Limits in bytes, of one graph and of all: browsers must open the page. */
enum { GRAPH = 4 * 1048576, GRAPHS = 24 * 1048576 };

enum { BAR = 90 }; /* pixels of what the script adds above a graph */

/* Reads regular files only: the path comes from a record and is not trusted.
 * Returns 0, or -1 with the reason in *why. */
static int
read_graph(struct str *to, const char *path, const char **why)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat st;

	*why = NULL;
	if (fd < 0 || fstat(fd, &st) < 0)
		*why = strerror(errno);
	else if (!S_ISREG(st.st_mode))
		*why = strerror(EINVAL);
	else if (st.st_size > GRAPH)
		*why = "it is too large";
	else if (!st.st_size || str_read(to, fd) < 0 ||
	    memchr(to->s, 0, to->len) || !str_utf8(to->s, to->len) ||
	    !strstr(to->s, "<svg"))
		*why = "it is not an SVG file";
	if (fd >= 0)
		close(fd);
	return *why ? -1 : 0;
}

/*
 * Embeds the graph in a sandbox without network and without access to the page.
 * The policy of the page allows the script of vkb-flame there, and no other
 * one. Page.js keeps the state of the graph in the URL.
 */
static void
write_iframe(
    struct str *s, const struct str *graph, const char *title, size_t number)
{
	const char *at = strstr(graph->s, " height=\"");
	double height = at ? strtod(at + 9, NULL) : 0;

	markup_printf(s,
	    "<iframe id=\"flame-%zu\" sandbox=\"allow-scripts\" "
	    "loading=\"lazy\" height=\"%.0f\" title=\"%s\" srcdoc=\"",
	    number, fmax(200, fmin(800, height + BAR)), title);
	for (size_t i = 0; i < graph->len; i++)
		if (graph->s[i] == '"')
			str_add(s, "&quot;");
		else if (graph->s[i] == '<')
			str_add(s, "&lt;");
		else if (graph->s[i] == '&')
			str_add(s, "&amp;");
		else
			str_addc(s, graph->s[i]);
	str_add(s, "\"></iframe>\n");
}

static void
format_profile_name(
    struct str *t, const struct model *m, const struct json *rec)
{
	const char *kind = json_get_str(rec, "mode");
	const char *comm = json_get_str(json_get(rec, "target"), "comm");

	str_printf(t, "%s of ", kind ? kind : "counts");
	if (json_get(rec, "config"))
		str_add(t, model_case(m, json_get(rec, "config"))->name);
	else if (json_get_str(rec, "case"))
		str_add(t, json_get_str(rec, "case"));
	else
		str_add(t, comm ? comm : "a process");
	if (json_get(rec, "subject"))
		str_printf(t, ", %s",
		    model_subject(m, json_get(rec, "subject"))->name);
}

/* What the page has of graphs so far. */
struct embedded {
	size_t n, bytes;
};

static void
write_graph(
    struct str *s, const char *path, const char *title, struct embedded *sum)
{
	struct str g = {0};
	const char *why = "the page already has 24 MB of graphs";
	bool own = false;

	if (sum->bytes < GRAPHS && read_graph(&g, path, &why) == 0) {
		sum->bytes += g.len;
		write_iframe(s, &g, title, ++sum->n);
		own = strstr(g.s, flame_get_script());
		why = NULL;
	}
	if (why)
		markup_printf(s, "<p class=\"quiet\">%s is not shown: %s</p>\n",
		    path, why);
	else
		markup_printf(s, "<p class=\"quiet\">%s%s</p>\n", path,
		    own ? ""
			: ": made by another version of vkb-flame; open the "
			  "file itself to search and zoom.");
	str_free(&g);
}

static void
write_profile(struct str *s, const struct model *m, const struct json *rec,
    struct embedded *sum)
{
	const char *svg = json_get_str(json_get(rec, "artifacts"), "svg");
	struct str t = {0};

	format_profile_name(&t, m, rec);
	html_tag(s, "h3", NULL, t.s);
	if (json_get_str(rec, "error"))
		markup_printf(s,
		    "<p><span class=\"badge regression\">failed</span> %s</p>"
		    "\n",
		    json_get_str(rec, "error"));
	if (svg)
		write_graph(s, svg, t.s, sum);
	if (json_first(json_get(rec, "per_req")) ||
	    json_first(json_get(rec, "derived"))) {
		str_add(s, "<dl class=\"list\">\n");
		html_members(s, json_get(rec, "per_req"));
		html_members(s, json_get(rec, "derived"));
		str_add(s, "</dl>\n");
	}
	str_free(&t);
}

void
page_profiles(struct str *s, const struct page *p)
{
	struct embedded sum = {0};

	for (size_t i = 0; i < p->m->profiles.n; i++)
		write_profile(s, p->m, p->m->profiles.v[i], &sum);
}
