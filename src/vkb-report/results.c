/*
 * The first table of a page without a comparison: the medians of each case.
 */
#include "figure.h"
#include "html.h"
#include "json.h"
#include "markup.h"
#include "model.h"
#include "page.h"
#include "str.h"

#include <math.h>

enum { PAGE = 20 }; /* rows that are shown at once */

static const char *const metrics[] = {
    "rps", "capacity_rps", "p50_latency_ms", "p99_latency_ms"};
enum { METRICS = sizeof metrics / sizeof *metrics };

static void
write_head(struct str *s, bool several, const bool has[METRICS])
{
	struct str t = {0};

	str_add(s, "<thead><tr><th scope=\"col\">case</th>");
	if (several)
		str_add(s, "<th scope=\"col\">subject</th>");
	for (size_t i = 0; i < METRICS; i++) {
		if (!has[i])
			continue;
		str_clear(&t);
		figure_label(&t, metrics[i]);
		markup_printf(s, "<th scope=\"col\" class=\"n\">%s</th>", t.s);
	}
	str_add(s,
	    "<th scope=\"col\" class=\"n\">runs</th></tr></thead>\n<tbody>\n");
	str_free(&t);
}

/* Writes a median and half of its interval, in percent. */
static void
write_median(struct str *s, const struct json *one)
{
	struct range ci = model_range(json_get(one, "ci95"));
	double median = json_get_num(one, "median", NAN);
	double half = 50 * (ci.hi - ci.lo) / median;

	str_printf(
	    s, "<td class=\"n\" data-v=\"%.9g\">", isnan(median) ? 0 : median);
	html_number(s, median);
	if (isfinite(half))
		str_printf(
		    s, " <span class=\"quiet\">&plusmn;%.1f%%</span>", half);
	str_add(s, "</td>");
}

static void
write_row(struct str *s, const struct page *p, const struct cell *c,
    const bool has[METRICS])
{
	double runs = 0; /* without those that are only counted */

	str_add(s, "<tr><th scope=\"row\">");
	page_case_link(s, c->kase);
	str_add(s, "</th>");
	if (p->m->nsubjects > 1)
		page_subject_cell(s, p, c->subject);
	for (size_t i = 0; i < METRICS; i++) {
		const struct json *one = model_metric(c, metrics[i]);

		if (has[i])
			write_median(s, one);
		runs = fmax(runs, json_get_num(one, "n", 0));
	}
	str_printf(s, "<td class=\"n\">%.0f</td></tr>\n", runs);
}

void
page_results(struct str *s, const struct page *p)
{
	const struct model *m = p->m;
	bool has[METRICS] = {false}, any = false;

	if (m->npairs || m->nchanges || m->nsubjects > MODEL_LOOKS)
		return;
	for (size_t k = 0; k < m->ncells; k++)
		for (size_t i = 0; i < METRICS; i++)
			has[i] |=
			    model_metric(&m->cells[k], metrics[i]) != NULL;
	for (size_t i = 0; i < METRICS; i++)
		any |= has[i];
	if (!any)
		return;
	html_browse(s, PAGE, NULL, NULL, 0);
	str_add(s,
	    "<div class=\"scroll\" tabindex=\"0\" role=\"region\" "
	    "aria-label=\"Medians\">\n<table class=\"results\">\n<caption>"
	    "Medians, and half of their 95% intervals.</caption>\n");
	write_head(s, m->nsubjects > 1, has);
	for (size_t i = 0; i < m->ncases; i++)
		for (size_t k = 0; k < m->order[i]->ncells; k++)
			write_row(s, p, m->order[i]->cells[k], has);
	str_add(s, "</tbody></table>\n</div>\n");
	html_browse_end(s);
}
