#include "forest.h"
#include "headline.h"
#include "html.h"
#include "json.h"
#include "markup.h"
#include "metric.h"
#include "model.h"
#include "num.h"
#include "page.h"
#include "str.h"

#include <math.h>
#include <stdio.h>

static void
write_list(struct str *s, const struct sentences *l)
{
	if (!l->n)
		return;
	str_add(s, "<ul>\n");
	for (size_t i = 0; i < l->n; i++)
		markup_printf(s, "<li>%s</li>\n", l->v[i]);
	str_add(s, "</ul>\n");
}

static void
write_headline(struct str *s, const struct page *p, const struct headline *h)
{
	markup_printf(s,
	    "<div class=\"verdict %s\">\n<p class=\"lead\"><strong>%s</strong>",
	    h->outcome == MODEL_VERDICTS ? "none"
					 : model_verdict_name(h->outcome),
	    h->what);
	if (h->contender) {
		str_add(s, ": ");
		page_subject(s, p, h->contender);
		str_add(s, " against ");
		page_subject(s, p, h->base);
	}
	str_add(s, "</p>\n");
	write_list(s, &h->facts);
	if (h->advice.n)
		str_add(s, "<h3>What to do next</h3>\n");
	write_list(s, &h->advice);
	str_add(s, "</div>\n");
}

static void
write_card(struct str *s, const char *class, const char *what,
    const char *value, const char *more)
{
	markup_printf(s, "<div class=\"card %s\"><dt>%s</dt><dd>%s</dd>", class,
	    what, value);
	if (more)
		html_tag(s, "dd", "quiet", more);
	str_add(s, "</div>\n");
}

static void
write_count(struct str *s, const char *class, const char *what, double n)
{
	char text[32];

	snprintf(text, sizeof text, "%.0f", n);
	write_card(s, class, what, text, NULL);
}

/* Writes the geometric mean over all cases, for each gate metric. */
static void
write_overall(struct str *s, const struct json *rec)
{
	const struct json *j = json_first(json_get(rec, "overall"));
	struct str value = {0}, more = {0};

	for (; j; j = json_next(j)) {
		struct range ci = model_range(json_get(j, "ci95_runs"));
		double ratio = json_get_num(j, "ratio", NAN);
		double n = json_get_num(j, "cases", 0);

		if (!metric_guess(json_key(j)).gate || isnan(ratio))
			continue;
		str_clear(&value);
		str_clear(&more);
		str_printf(&value, "%+.1f%%", 100 * (ratio - 1));
		forest_interval(&more, ci.lo, ci.hi);
		str_printf(&more, "%s mean of %.0f case%s", more.len ? "," : "",
		    n, num_plural(n));
		write_card(s, "overall", json_key(j), value.s, more.s);
	}
	str_free(&value);
	str_free(&more);
}

static void
write_cards(struct str *s, const struct model *m)
{
	static const char *const words[MODEL_VERDICTS] = {"worse",
	    "likely worse", "better", "likely better", "different",
	    "likely different", "unclear", "too few runs", "no change"};
	size_t count[MODEL_VERDICTS] = {0};

	str_add(s, "<dl class=\"cards\">\n");
	for (size_t i = 0; i < m->ndeltas; i++)
		if (m->deltas[i].gate && !m->deltas[i].waived)
			count[m->deltas[i].verdict]++;
	for (size_t v = 0; v < MODEL_VERDICTS; v++)
		if (count[v])
			write_count(s,
			    model_verdict_name((enum model_verdict)v), words[v],
			    (double)count[v]);
	if (m->comparisons.n == 1)
		write_overall(s, m->comparisons.v[0]);
	if (m->ncases)
		write_count(s, "count", "cases", (double)m->ncases);
	if (m->runs > 0)
		write_count(s, "count", "runs", m->runs);
	if (m->failed > 0)
		write_count(s, "regression", "runs failed", m->failed);
	if (m->nchanges)
		write_count(s, "count", "changes", (double)m->nchanges);
	if (m->profiles.n)
		write_count(s, "count", "profiles", (double)m->profiles.n);
	str_add(s, "</dl>\n");
}

void
page_verdict(struct str *s, const struct page *p)
{
	size_t n;
	struct headline *h = headlines_new(p->m, &n);
	struct str left = {0};

	str_add(s,
	    "<section id=\"verdict\" aria-labelledby=\"verdict-title\">\n"
	    "<h2 id=\"verdict-title\">Verdict</h2>\n");
	for (size_t i = 0; i < n; i++)
		write_headline(s, p, &h[i]);
	headline_left_out(&left, p->m);
	if (*left.s)
		html_tag(s, "p", NULL, left.s);
	write_cards(s, p->m);
	str_add(s, "</section>\n");
	str_free(&left);
	headlines_free(h, n);
}
