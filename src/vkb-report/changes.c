#include "forest.h"
#include "html.h"
#include "json.h"
#include "markup.h"
#include "metric.h"
#include "model.h"
#include "intern.h"
#include "page.h"
#include "str.h"
#include "verdict.h"

#include <math.h>
#include <string.h>

enum { ROWS = 4000 };

/* Writes the filters. They are hidden until the script shows them. */
static void
write_controls(struct str *s, const struct model *m)
{
	struct intern *metrics = intern_new();
	bool seen[MODEL_VERDICTS] = {false};

	for (size_t i = 0; i < m->ndeltas; i++) {
		intern_id(metrics, m->deltas[i].metric);
		seen[m->deltas[i].verdict] = true;
	}
	str_add(s,
	    "<div class=\"controls\" role=\"search\" hidden>\n"
	    "<label>Case <input id=\"find\" type=\"search\" "
	    "autocomplete=\"off\" spellcheck=\"false\"></label>\n"
	    "<label>Metric <select id=\"metric\"><option value=\"\">all"
	    "</option>");
	for (size_t i = 0; i < intern_count(metrics); i++)
		html_tag(s, "option", NULL, intern_text(metrics, i));
	str_add(s,
	    "</select></label>\n<label>Verdict <select id=\"which\">"
	    "<option value=\"\">all</option>");
	for (size_t v = 0; v < MODEL_VERDICTS; v++)
		if (seen[v])
			html_tag(s, "option", NULL,
			    model_verdict_name((enum model_verdict)v));
	str_add(s,
	    "</select></label>\n<output id=\"shown\" "
	    "aria-live=\"polite\"></output>\n</div>\n");
	intern_free(metrics);
}

static void
write_medians(struct str *s, const struct delta *d)
{
	const struct json *median = json_get(d->rec, "median");

	for (size_t i = 0; i < 2; i++) {
		double v = json_num(json_at(median, i), NAN);

		str_printf(s, "<td class=\"n wide\" data-v=\"%.9g\">",
		    isnan(v) ? 0 : v);
		html_number(s, v);
		str_add(s, "</td>");
	}
}

static void
write_notes(struct str *s, const struct delta *d)
{
	const struct json *j = json_first(json_get(d->rec, "notes"));
	double runs = json_num(json_path(d->rec, "needed.runs"), 0);
	const struct json *n = json_get(d->rec, "n");
	double have =
	    fmin(json_num(json_at(n, 0), 0), json_num(json_at(n, 1), 0));
	const char *why = json_get_str(json_get(d->rec, "waiver"), "reason");

	str_add(s, "<span class=\"wide\">");
	if (json_get_bool(d->rec, "certain", false))
		str_add(s, ", certain");
	if (d->waived)
		markup_printf(s, ", waived: %s", why ? why : "no reason");
	if (!d->gate)
		str_add(s, ", for information");
	if (verdict_is_hopeless(runs, have))
		str_add(s, "; this machine is too noisy to tell");
	else if (runs > 0)
		str_printf(s, "; needs %.0f runs on each side", runs);
	for (; j; j = json_next(j)) {
		str_add(s, "; ");
		html_value(s, j);
	}
	j = json_get(d->rec, "together");
	if (j) {
		str_add(s, "; ");
		html_value(s, j);
	}
	str_add(s, "</span>");
}

static void
write_row(
    struct str *s, const struct forest *f, const struct delta *d, bool several)
{
	const struct kase *k = d->kase;
	const char *verdict = model_verdict_name(d->verdict);
	struct str t = {0};

	str_printf(s, "<tr class=\"%s\"><th scope=\"row\">", verdict);
	page_case_link(s, k);
	if (several)
		markup_printf(
		    s, " <span class=\"quiet\">%s</span>", d->contender->name);
	html_tag(s, "span", "narrow", d->metric);
	str_add(s, "</th>");
	html_tag(s, "td", "wide", d->metric);
	write_medians(s, d);
	forest_change(&t, d);
	str_printf(s, "<td class=\"n\" data-v=\"%.9g\">",
	    isnan(d->ratio) ? 0 : d->ratio - 1);
	markup_printf(s,
	    "%s</td><td class=\"chart\"><svg class=\"plot\" viewBox=\"0 0 %d "
	    "%d\" aria-hidden=\"true\">",
	    t.s, FOREST_WIDTH, FOREST_HEIGHT);
	forest_row(s, f, d, 0, FOREST_HEIGHT / 2.);
	str_printf(s,
	    "</svg></td><td data-v=\"%d\"><span class=\"badge %s\">%s</span>",
	    (int)d->verdict, verdict, verdict);
	write_notes(s, d);
	str_add(s, "</td></tr>\n");
	str_free(&t);
}

void
page_changes(struct str *s, const struct page *p)
{
	const struct model *m = p->m;
	struct forest f = forest_new(m);
	size_t n = m->ndeltas < ROWS ? m->ndeltas : ROWS;
	bool several = false;
	char lo[32], hi[32];

	if (!n)
		return;
	for (size_t i = 1; i < m->ndeltas; i++)
		several |= m->deltas[i].contender != m->deltas[0].contender ||
		    m->deltas[i].base != m->deltas[0].base;
	forest_ends(&f, lo, hi);
	write_controls(s, m);
	str_printf(s,
	    "<div class=\"scroll\" tabindex=\"0\" role=\"region\" "
	    "aria-labelledby=\"changes-about\">\n<table id=\"rows\">\n<caption "
	    "id=\"changes-about\">Contender over baseline, with 95%% "
	    "intervals; changes within the shaded margin do not count");
	if (n < m->ndeltas)
		str_printf(s, "; the first %zu of %zu rows", n, m->ndeltas);
	markup_printf(s,
	    ".</caption>\n<thead><tr><th scope=\"col\">case</th>"
	    "<th scope=\"col\" class=\"wide\">metric</th>"
	    "<th scope=\"col\" class=\"n wide\">baseline</th>"
	    "<th scope=\"col\" class=\"n wide\">contender</th>"
	    "<th scope=\"col\" class=\"n\">change</th>"
	    "<th scope=\"col\" class=\"chart\"><span class=\"ends\">"
	    "<span>%s</span><span>0</span><span>%s</span></span></th><th "
	    "scope=\"col\">verdict</th></tr></thead>\n"
	    "<tbody>\n",
	    lo, hi);
	for (size_t i = 0; i < n; i++)
		write_row(s, &f, &m->deltas[i], several);
	str_add(s, "</tbody>\n</table>\n</div>\n");
}
