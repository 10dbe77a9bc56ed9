#include "page.h"
#include "asset.h"
#include "html.h"
#include "markup.h"
#include "model.h"
#include "plot.h"
#include "record.h"
#include "str.h"

#include <stdbool.h>
#include <string.h>

extern const char plot_style[], page_style[], page_script[];
ASSET(plot_style, "src/vkb-report/plot.css");
ASSET(page_style, "src/vkb-report/page.css");
ASSET(page_script, "src/vkb-report/page.js");

/* Links only to the URL of the caller, since a record could name any host. */
void
page_subject(struct str *s, const struct page *p, const struct subject *subject)
{
	const char *commit = record_subject_commit(subject->json);

	if (p->commit_url && commit && *commit &&
	    strspn(commit, "0123456789abcdef") == strlen(commit))
		markup_printf(s, "<a rel=\"noreferrer\" href=\"%s%s\">%s</a>",
		    p->commit_url, commit, subject->name);
	else
		html_text(s, subject->name);
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

	if (p->title)
		str_add(s, p->title);
	else if (m->npairs)
		str_printf(s, "%s against %s", m->pairs[0].contender->name,
		    m->pairs[0].base->name);
	else if (m->nsubjects == 1)
		str_printf(s, "Benchmarks of %s", m->ordered[0]->name);
	else
		str_add(s, "Benchmarks");
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

enum fold { FOLD_NEVER, FOLD_MANY, FOLD_CHANGED, FOLD_ALWAYS };

struct section {
	const char *id, *title;
	enum fold fold; /* at first */
	void (*write)(struct str *, const struct page *);
};

static const struct section sections[] = {
    {"history", "History", FOLD_NEVER, page_history},
    {"changes", "All results", FOLD_CHANGED, page_changes},
    {"cases", "Cases", FOLD_MANY, page_cases},
    {"scaling", "Scaling", FOLD_MANY, page_scaling},
    {"profiles", "Profiles", FOLD_MANY, page_profiles},
    {"failed", "Failed", FOLD_MANY, page_failed},
    {"environment", "Environment", FOLD_ALWAYS, page_environment},
};

enum { SECTIONS = sizeof sections / sizeof *sections };

/* Is a section open at first? It is if the page is short, and the section is
 * not about what the table above it has already. */
static bool
is_open(const struct model *m, const struct section *part)
{
	bool changed =
	    m->ndeltas && m->deltas[0].verdict <= MODEL_LIKELY_DIFFERENT;

	return part->fold == FOLD_NEVER ||
	    (m->ncases <= PAGE_FEW &&
		(part->fold == FOLD_MANY ||
		    (part->fold == FOLD_CHANGED && !changed)));
}

static void
write_section(struct str *s, const struct page *p, const struct section *part,
    const struct str *text)
{
	str_printf(s,
	    "<details class=\"section\" id=\"%s\"%s>\n"
	    "<summary><h2>%s</h2></summary>\n",
	    part->id, is_open(p->m, part) ? " open" : "", part->title);
	str_addn(s, text->s, text->len);
	str_add(s, "</details>\n");
}

static void
write_links(struct str *s, const struct str *parts)
{
	size_t n = 0;

	for (size_t i = 0; i < SECTIONS; i++) {
		if (!parts[i].len)
			continue;
		str_add(s, n++ ? "" : "<nav aria-label=\"Sections\"><ul>\n");
		str_printf(s, "<li><a href=\"#%s\">%s</a></li>\n",
		    sections[i].id, sections[i].title);
	}
	str_add(s, n ? "</ul></nav>\n" : "");
}

void
page_write(struct str *s, const struct page *p)
{
	struct str parts[SECTIONS] = {{0}}, style = {0}, title = {0};
	struct html_page html;

	str_printf(&style, "%s%s", plot_style, page_style);
	format_title(&title, p);
	html = (struct html_page){
	    title.s, "vkb-report", style.s, page_script, p->m->profiles.n > 0};
	html_begin(s, &html);
	markup_printf(s,
	    "<a class=\"skip\" href=\"#main\">Skip to the report</a>\n"
	    "<header>\n<h1>%s</h1>\n",
	    title.s);
	for (size_t i = 0; i < SECTIONS; i++)
		sections[i].write(&parts[i], p);
	write_links(s, parts);
	str_add(s, "</header>\n<main id=\"main\">\n");
	page_verdict(s, p);
	write_legend(s, p);
	for (size_t i = 0; i < SECTIONS; i++) {
		if (parts[i].len)
			write_section(s, p, &sections[i], &parts[i]);
		str_free(&parts[i]);
	}
	str_printf(s,
	    "</main>\n<footer class=\"quiet\">%zu record%s, by vkb-report %s."
	    "</footer>\n",
	    p->m->records, p->m->records == 1 ? "" : "s", VKB_VERSION);
	html_end(s, &html);
	str_free(&style);
	str_free(&title);
}
