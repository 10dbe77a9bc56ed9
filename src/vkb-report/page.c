#include "page.h"
#include "asset.h"
#include "html.h"
#include "json.h"
#include "markup.h"
#include "mem.h"
#include "model.h"
#include "plot.h"
#include "str.h"

#include <stdlib.h>
#include <string.h>

extern const char plot_style[], page_style[], page_script[];
ASSET(plot_style, "src/vkb-report/plot.css");
ASSET(page_style, "src/vkb-report/page.css");
ASSET(page_script, "src/vkb-report/page.js");

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
page_subject(struct str *s, const struct page *p, const struct subject *subject)
{
	const char *commit = json_get_str(subject->json, "commit");
	char *page = p->commit_url ? mem_str(p->commit_url)
				   : format_commit_url(subject->json);

	if (commit && is_plain(commit, "") && page)
		markup_printf(s, "<a rel=\"noreferrer\" href=\"%s%s\">%s</a>",
		    page, commit, subject->name);
	else
		html_text(s, subject->name);
	free(page);
}

void
page_subject_cell(
    struct str *s, const struct page *p, const struct subject *subject)
{
	str_add(s, "<td>");
	page_subject(s, p, subject);
	str_add(s, "</td>");
}

static void
format_title(struct str *s, const struct page *p)
{
	const struct model *m = p->m;
	const struct subject *a = NULL, *b = NULL;

	if (m->ndeltas) {
		a = m->deltas[0].base;
		b = m->deltas[0].contender;
	} else if (m->comparisons.n) {
		a = model_subject(m, json_get(m->comparisons.v[0], "baseline"));
		b = model_subject(
		    m, json_get(m->comparisons.v[0], "contender"));
	}
	if (p->title)
		str_add(s, p->title);
	else if (a)
		str_printf(s, "%s against %s", b->name, a->name);
	else if (m->nsubjects == 1)
		str_printf(s, "Benchmarks of %s", m->ordered[0]->name);
	else
		str_add(s, "Benchmarks");
}

static void
write_head(struct str *s, const struct page *p)
{
	struct str style = {0}, t = {0};

	str_printf(&style, "%s%s", plot_style, page_style);
	format_title(&t, p);
	str_add(s,
	    "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n"
	    "<meta charset=\"utf-8\">\n"
	    "<meta http-equiv=\"Content-Security-Policy\" content=\""
	    "default-src 'none'; base-uri 'none'; form-action 'none'; "
	    "style-src ");
	html_source_hash(s, style.s);
	str_add(s, "; script-src ");
	html_source_hash(s, page_script);
	markup_printf(s,
	    "\">\n<meta name=\"viewport\" content=\"width=device-width, "
	    "initial-scale=1\">\n"
	    "<meta name=\"color-scheme\" content=\"light dark\">\n"
	    "<meta name=\"generator\" "
	    "content=\"vkb-report\">\n<title>%s</title>\n",
	    t.s);
	str_printf(s, "<style>%s</style>\n</head>\n", style.s);
	markup_printf(s,
	    "<body>\n<a class=\"skip\" href=\"#main\">Skip to the "
	    "report</a>\n<header>\n<h1>%s</h1>\n",
	    t.s);
	if (*p->m->common)
		markup_printf(
		    s, "<p class=\"quiet\">All cases: %s</p>\n", p->m->common);
	str_free(&style);
	str_free(&t);
}

static void
write_legend_entry(struct str *s, const struct subject *who)
{
	str_printf(s,
	    "<li><input type=\"checkbox\" checked hidden id=\"show%zu\" "
	    "data-subject=\"%zu\"><label for=\"show%zu\"><svg "
	    "class=\"plot key\" viewBox=\"0 0 12 12\" aria-hidden=\"true\">",
	    who->look, who->look, who->look);
	plot_marker(s, 6, 6, who->look, NULL);
	markup_printf(s, "</svg> %s</label>", who->name);
	if (who->baseline)
		str_add(s, " <span class=\"quiet\">baseline</span>");
	str_add(s, "</li>\n");
}

/* Writes colour and shape of each subject, with a checkbox that hides it. */
static void
write_legend(struct str *s, const struct page *p)
{
	const struct model *m = p->m;

	if (m->nsubjects < 2)
		return;
	str_add(s, "<ul class=\"legend\" aria-label=\"Subjects\">\n");
	for (size_t i = 0; i < m->nsubjects; i++)
		if (m->ordered[i]->look < MODEL_LOOKS)
			write_legend_entry(s, m->ordered[i]);
	if (m->nsubjects > MODEL_LOOKS)
		str_printf(s,
		    "<li class=\"quiet\">%zu more appear only in the trend "
		    "plots</li>\n",
		    m->nsubjects - MODEL_LOOKS);
	str_add(s, "</ul>\n");
}

struct section {
	const char *id, *title;
	void (*write)(struct str *, const struct page *);
};

static const struct section sections[] = {
    {"changes", "Comparison", page_changes},
    {"history", "History", page_history},
    {"scaling", "Scaling", page_scaling},
    {"cases", "Cases", page_cases},
    {"profiles", "Profiles", page_profiles},
    {"failed", "Failed", page_failed},
    {"environment", "Environment", page_environment},
};

enum { SECTIONS = sizeof sections / sizeof *sections };

void
page_write(struct str *s, const struct page *p)
{
	struct str parts[SECTIONS] = {{0}};

	write_head(s, p);
	str_add(s, "<nav aria-label=\"Sections\"><ul>\n");
	for (size_t i = 0; i < SECTIONS; i++) {
		sections[i].write(&parts[i], p);
		if (parts[i].len)
			str_printf(s, "<li><a href=\"#%s\">%s</a></li>\n",
			    sections[i].id, sections[i].title);
	}
	str_add(s, "</ul></nav>\n</header>\n<main id=\"main\">\n");
	page_verdict(s, p);
	write_legend(s, p);
	for (size_t i = 0; i < SECTIONS; i++) {
		if (parts[i].len) {
			str_printf(s,
			    "<section id=\"%s\" aria-labelledby=\"%s-title\">\n"
			    "<h2 id=\"%s-title\">%s</h2>\n",
			    sections[i].id, sections[i].id, sections[i].id,
			    sections[i].title);
			str_addn(s, parts[i].s, parts[i].len);
			str_add(s, "</section>\n");
		}
		str_free(&parts[i]);
	}
	str_printf(s,
	    "</main>\n<footer class=\"quiet\">%zu record%s, by "
	    "vkb-report " VKB_VERSION
	    ".</footer>\n<script>%s</script>\n</body>\n</html>\n",
	    p->m->records, p->m->records == 1 ? "" : "s", page_script);
}
