#include "index.h"
#include "archive.h"
#include "asset.h"
#include "changegroup.h"
#include "changetext.h"
#include "html.h"
#include "json.h"
#include "machines.h"
#include "markup.h"
#include "mem.h"
#include "metric.h"
#include "num.h"
#include "plot.h"
#include "stats.h"
#include "str.h"
#include "trends.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * Draws a series of a history: its commits, evenly spaced, with dates below;
 * its levels, and how much each change was. The chart is as wide as its place,
 * and needs "columns", the titles of the commits, once in the page.
 */

#define SPAN .04 /* the axis shows at least this part of a value */
#define HEIGHT 126

struct mark { /* a change of the series */
	const struct changegroup *group;
	const struct changegroup_one *one;
};

struct chart {
	struct plot p;
	const struct trends *t;
	const struct trend_series *s;
	struct mark *v; /* the oldest first */
	size_t n;
	bool *outside; /* by commit: of a spike */
};

static int
compare_marks(const void *a, const void *b)
{
	const struct mark *x = a, *y = b;

	return (x->one->at > y->one->at) - (x->one->at < y->one->at);
}

/* Was the change seen on the machine of the series? */
static bool
is_shown(const struct chart *c, const struct json *rec)
{
	const char *own = machines_name(c->t->machines, c->s->machine);
	const struct json *all = json_get(rec, "machines"), *j;

	for (j = json_first(all); j; j = json_next(j)) {
		const char *one = json_get_str(j, "machine");

		if (one && strcmp(one, own) == 0)
			return true;
	}
	return !all;
}

static void
collect_marks(struct chart *c, const struct changegroups *all)
{
	size_t cap = 0;

	for (size_t i = 0; i < all->n; i++)
		for (size_t k = 0; k < all->v[i].n; k++) {
			const struct changegroup_one *one = &all->v[i].v[k];

			if (one->kase != c->s->kase || one->at >= c->t->n ||
			    strcmp(json_get_str(one->rec, "metric"),
				c->s->metric) != 0 ||
			    !is_shown(c, one->rec))
				continue;
			*MEM_ADD(c->v, c->n, cap) =
			    (struct mark){&all->v[i], one};
		}
	mem_sort(c->v, c->n, sizeof *c->v, compare_marks);
	for (size_t i = 0; i < c->n; i++)
		for (size_t k = c->v[i].one->at; k <= c->v[i].one->end; k++)
			c->outside[k] |=
			    c->v[i].group->state == CHANGEGROUP_SPIKE;
}

/* Fits the axis to all values but spikes, unless there is nothing else. */
static void
fit_axis(struct chart *c)
{
	struct axis *y = &c->p.y;
	double middle, room;

	*y = AXIS(AXIS_LINEAR, NULL);
	for (int all = 0; all < 2 && y->lo > y->hi; all++)
		for (size_t i = 0; i < c->t->n; i++)
			if (all || !c->outside[i])
				axis_fit(y, c->s->v[i]);
	middle = (y->lo + y->hi) / 2;
	room = fabs(middle) * SPAN / 2;
	axis_fit(y, middle - room);
	axis_fit(y, middle + room);
}

static void
draw_values(struct chart *c)
{
	double *x = mem_array(2 * c->t->n + 1, sizeof *x), *y = x + c->t->n;
	size_t n = 0;

	for (size_t i = 0; i < c->t->n; i++)
		if (!isnan(c->s->v[i])) {
			x[n] = (double)i;
			y[n++] = c->s->v[i];
		}
	plot_line(&c->p, x, y, n, 0, "thin");
	plot_dots(&c->p, x, y, n, 0);
	free(x);
}

/* Draws the median of the commits from..to-1, if there is one. */
static void
draw_level(struct chart *c, size_t from, size_t to)
{
	double *v = mem_array(c->t->n + 1, sizeof *v), y;
	size_t n = 0;

	for (size_t i = from; i < to; i++)
		if (!isnan(c->s->v[i]) && !c->outside[i])
			v[n++] = c->s->v[i];
	if (n) {
		y = stats_middle(v, n);
		plot_line(&c->p, (double[]){(double)from - .5, (double)to - .5},
		    (double[]){y, y}, 2, PLOT_LOOKS, "line");
	}
	free(v);
}

static void
draw_slope(struct chart *c, const struct mark *m)
{
	const struct json *ends = json_get(m->one->rec, "median");
	char class[32];

	snprintf(class, sizeof class, "line %s", changegroup_class(m->group));
	plot_line(&c->p, (double[]){(double)m->one->at, (double)m->one->end},
	    (double[]){json_num(json_at(ends, 0), NAN),
		json_num(json_at(ends, 1), NAN)},
	    2, PLOT_LOOKS, class);
}

/* Draws the levels between the changes, and each change with its size. */
static void
draw_changes(struct chart *c)
{
	size_t from = 0;

	for (size_t i = 0; i < c->n; i++) {
		const struct mark *m = &c->v[i];
		const char *class = changegroup_class(m->group);
		double at = (double)m->one->at;
		char change[32];
		struct str s = {0};

		if (m->group->state == CHANGEGROUP_SPIKE)
			continue;
		draw_level(c, from, m->one->at);
		from = m->group->slow ? m->one->end + 1 : m->one->at;
		snprintf(change, sizeof change, "change %s", class);
		if (m->group->slow)
			draw_slope(c, m);
		else
			plot_vertical(&c->p, at - .5, change, NULL);
		changegroup_percent(&s, m->one->rec);
		plot_label(&c->p,
		    m->group->slow ? (at + (double)m->one->end) / 2 : at - .5,
		    class, s.s);
		str_free(&s);
	}
	draw_level(c, from, c->t->n);
}

/* The script shows a value with the commit under the pointer. */
static void
write_texts(struct str *to, const struct chart *c)
{
	char buf[NUM_BUF];

	markup_printf(to, "data-unit=\"%s\" data-values=\"",
	    metric_guess(c->s->metric).unit);
	for (size_t i = 0; i < c->t->n; i++)
		str_printf(to, "%s%s", i ? " " : "",
		    isnan(c->s->v[i]) ? "-" : num_human(buf, c->s->v[i]));
	str_addc(to, '"');
}

/* Returns the last value that is not NAN, or NAN. */
static double
chart_find_last(const struct trends *t, const struct trend_series *s)
{
	for (size_t i = t->n; i-- > 0;)
		if (!isnan(s->v[i]))
			return s->v[i];
	return NAN;
}

static void
write_summary(struct str *to, const struct chart *c)
{
	const struct metric m = metric_guess(c->s->metric);
	char buf[NUM_BUF];

	metric_write_label(to, c->s->metric);
	str_printf(to, " of %s at %zu commits, now %s %s",
	    c->t->cases[c->s->kase].name, c->t->n,
	    num_human(buf, chart_find_last(c->t, c->s)), m.unit);
	for (size_t i = 0; i < c->n; i++) {
		str_add(to, ", ");
		changegroup_percent(to, c->v[i].one->rec);
		str_printf(to, " at commit %zu", c->v[i].one->at + 1);
	}
}

static void
chart_write(struct str *to, const struct trends *t,
    const struct trend_series *s, const struct changegroups *all)
{
	struct chart c = {.t = t, .s = s};
	struct str summary = {0}, texts = {0};

	c.outside = mem_array(t->n + 1, sizeof *c.outside);
	collect_marks(&c, all);
	write_summary(&summary, &c);
	write_texts(&texts, &c);
	c.p = (struct plot){.to = to,
	    .label = summary.s,
	    .attributes = texts.s,
	    .height = HEIGHT,
	    .xnames = t->days,
	    .nxnames = t->n,
	    .labels = true};
	fit_axis(&c);
	plot_open(&c.p);
	draw_values(&c);
	draw_changes(&c);
	str_printf(to,
	    "<svg x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" "
	    "viewBox=\"0 0 %zu 1\" preserveAspectRatio=\"none\">"
	    "<use href=\"#columns\"/></svg>",
	    c.p.left, c.p.top, c.p.right - c.p.left, c.p.bottom - c.p.top,
	    t->n);
	plot_close(&c.p);
	str_addc(to, '\n');
	str_free(&summary);
	str_free(&texts);
	free(c.v);
	free(c.outside);
}

/* Writes the element with a transparent column for each commit, which shows the
 * title of the commit on hover. */
static void
chart_write_columns(struct str *s, const struct trends *t)
{
	str_add(s,
	    "<svg class=\"columns\" aria-hidden=\"true\"><defs>"
	    "<g id=\"columns\">\n");
	for (size_t i = 0; i < t->n; i++) {
		struct str label = {0};

		archive_entry_label(&label, t->commits[i]);
		markup_printf(s,
		    "<rect x=\"%zu\" width=\"1\" height=\"1\" "
		    "data-page=\"%s\"><title>%s</title></rect>\n",
		    i, t->commits[i]->key, label.s);
		str_free(&label);
	}
	str_add(s, "</g></defs></svg>\n");
}

/* --- The charts of all cases on the index, those that became worse first. */

enum { CASES = 100 }; /* that are shown; the others are folded */

struct item { /* a case to show */
	size_t kase;
	const struct trend_series *first; /* NULL if nothing was measured */
	enum changegroup_state state;     /* of its worst change */
	const char *name;
};

static int
compare_items(const void *a, const void *b)
{
	const struct item *x = a, *y = b;

	if (x->state != y->state)
		return x->state < y->state ? -1 : 1;
	return strcmp(x->name, y->name);
}

static enum changegroup_state
find_worst(const struct index *x, size_t kase)
{
	enum changegroup_state worst = CHANGEGROUP_SPIKE;

	for (size_t i = 0; i < x->changes->n; i++) {
		const struct changegroup *g = &x->changes->v[i];

		for (size_t k = 0; k < g->n && g->state < worst; k++)
			if (g->v[k].kase == kase)
				worst = g->state;
	}
	return worst;
}

/* Returns the series of the primary metric, or if that was not measured, that
 * of the counted instructions or the first of the case; NULL if there is none.
 */
static const struct trend_series *
find_first(const struct trends *t, size_t kase)
{
	const struct trend_series *first = NULL;

	for (size_t i = 0; i < t->nseries; i++) {
		const struct trend_series *s = &t->v[i];

		if (s->kase != kase)
			continue;
		if (strcmp(s->metric, t->cases[kase].primary) == 0)
			return s;
		if (!first || strcmp(s->metric, "instructions_per_req") == 0)
			first = s;
	}
	return first;
}

static void
write_chart(struct str *s, const struct index *x,
    const struct trend_series *series, const char *name)
{
	const struct metric m = metric_guess(series->metric);
	struct str metric = {0};
	char buf[NUM_BUF];

	metric_write_label(&metric, series->metric);
	if (name)
		html_tag(s, "b", NULL, name);
	markup_printf(s, " <span class=\"quiet\">%s %s %s", metric.s,
	    num_human(buf, chart_find_last(x->trends, series)), m.unit);
	if (machines_count(x->trends->machines) > 1)
		markup_printf(s, " on %s",
		    machines_name(x->trends->machines, series->machine));
	str_add(s, "</span>");
	str_free(&metric);
}

static void
write_next_chart(
    struct str *s, const struct index *x, const struct trend_series *series)
{
	str_add(s, "<p>");
	write_chart(s, x, series, NULL);
	str_add(s, "</p>\n");
	chart_write(s, x->trends, series, x->changes);
}

/* Are both of one case and metric, of different machines? */
static bool
is_same_metric(const struct trend_series *a, const struct trend_series *b)
{
	return a->kase == b->kase && strcmp(a->metric, b->metric) == 0;
}

/* The chart of the first metric of each machine, then the others, folded. */
static void
write_case(struct str *s, const struct index *x, const struct item *item)
{
	const struct trends *t = x->trends;
	bool folded = false;

	str_printf(s, "<figure id=\"case-%zu\"><figcaption>", item->kase + 1);
	write_chart(s, x, item->first, item->name);
	str_add(s, "</figcaption>\n");
	chart_write(s, t, item->first, x->changes);
	for (size_t i = 0; i < t->nseries; i++) {
		const struct trend_series *o = &t->v[i];

		if (o != item->first && is_same_metric(o, item->first))
			write_next_chart(s, x, o);
	}
	for (size_t i = 0; i < t->nseries; i++) {
		const struct trend_series *o = &t->v[i];

		if (o->kase != item->kase || is_same_metric(o, item->first))
			continue;
		if (!folded)
			str_add(
			    s, "<details><summary>other metrics</summary>\n");
		folded = true;
		write_next_chart(s, x, o);
	}
	str_add(s, folded ? "</details></figure>\n" : "</figure>\n");
}

/* Writes nothing if no case was measured. */
static void
write_case_charts(struct str *s, const struct index *x)
{
	const struct trends *t = x->trends;
	struct item *v = mem_array(t->ncases + 1, sizeof *v);
	size_t n = 0;

	for (size_t i = 0; i < t->ncases; i++) {
		v[n] = (struct item){
		    i, find_first(t, i), find_worst(x, i), t->cases[i].name};
		n += v[n].first != NULL;
	}
	if (n) {
		qsort(v, n, sizeof *v, compare_items);
		str_add(s,
		    "<h2>Cases</h2>\n<div class=\"controls\" role=\"search\" "
		    "aria-label=\"Cases\" hidden><label>Case <input "
		    "type=\"search\" "
		    "id=\"find-case\" autocomplete=\"off\" "
		    "spellcheck=\"false\"></label> <output "
		    "id=\"found-cases\"></output></div>\n");
		chart_write_columns(s, t);
		str_add(s, "<div class=\"cases\">\n");
	}
	for (size_t i = 0; i < n; i++) {
		if (i == CASES)
			str_printf(s,
			    "</div><details><summary>%zu more cases"
			    "</summary><div class=\"cases\">\n",
			    n - CASES);
		write_case(s, x, &v[i]);
	}
	if (n)
		str_add(s, n > CASES ? "</div></details>\n" : "</div>\n");
	free(v);
}

enum {
	SHOWN = 4,    /* changed series in a row; the others are folded */
	COMMITS = 100 /* rows of commits that are shown at once */
};

extern const char index_style[], index_script[];
ASSET(index_style, "src/vkb-history/index.css");
ASSET(index_script, "src/vkb-history/index.js");

/* --- changes */

static void
write_commit(struct str *s, const struct index *x, size_t at)
{
	const struct archive_entry *e = x->trends->commits[at];

	archive_entry_link(s, e, INDEX_PAGES "/");
	str_printf(s, " <span class=\"quiet\">%s</span>", e->day);
}

static void
write_one(
    struct str *s, const struct index *x, const struct changegroup_one *one)
{
	const struct trends *t = x->trends;
	struct str text = {0};

	changegroup_percent(&text, one->rec);
	str_addc(&text, ' ');
	metric_write_label(&text, json_get_str(one->rec, "metric"));
	str_add(s, "<li>");
	if (one->kase < t->ncases)
		markup_printf(s, "<a href=\"#case-%zu\">%s</a> ", one->kase + 1,
		    t->cases[one->kase].name);
	markup_xml(s, text.s);
	str_clear(&text);
	if (json_get_str(one->rec, "setup"))
		str_printf(&text, "%s ", json_get_str(one->rec, "setup"));
	if (json_get_str(one->rec, "seen"))
		str_add(&text, json_get_str(one->rec, "seen"));
	if (text.len) {
		str_addc(s, ' ');
		html_tag(s, "span", "quiet", text.s);
	}
	str_add(s, "</li>\n");
	str_free(&text);
}

static void
write_series(struct str *s, const struct index *x, const struct changegroup *g)
{
	str_add(s, "<ul class=\"series\">\n");
	for (size_t i = 0; i < g->n; i++) {
		if (i == SHOWN && g->n > SHOWN + 1)
			str_printf(s,
			    "</ul><details><summary>%zu "
			    "more</summary><ul class=\"series\">\n",
			    g->n - SHOWN);
		write_one(s, x, &g->v[i]);
	}
	str_add(s, "</ul>");
	if (g->n > SHOWN + 1)
		str_add(s, "</details>");
}

/* Writes the commits at which the change may be, if these are several. */
static void
write_range(struct str *s, const struct changegroup *g)
{
	struct str range = {0};

	changetext_range(&range, g->v[0].rec);
	if (range.len)
		markup_printf(s,
		    "<br><span class=\"quiet\">or another one from %s</span>",
		    range.s);
	str_free(&range);
}

static void
write_place(struct str *s, const struct index *x, const struct changegroup *g)
{
	const char *commit = json_get_str(g->v[0].rec, "commit");
	size_t n = x->trends->n;

	if (g->slow)
		str_add(s, "from ");
	if (g->at < n)
		write_commit(s, x, g->at);
	else
		markup_xml(s, commit ? commit : "?");
	if (g->slow && g->v[0].end < n) {
		str_add(s, "<br>to ");
		write_commit(s, x, g->v[0].end);
	} else if (!g->slow)
		write_range(s, g);
	if (g->state == CHANGEGROUP_BACK && g->back < n) {
		str_add(s, "<br>reverted by ");
		write_commit(s, x, g->back);
	}
}

/* Writes the largest change, of how many cases, and how fast a slow one is. */
static void
write_size(struct str *s, const struct changegroup *g)
{
	const struct json *rec = g->v[0].rec;
	double pace = json_num(json_path(rec, "trend.per_point"), NAN);
	size_t cases = changegroup_cases(g);
	struct str size = {0}, metric = {0};

	changegroup_percent(&size, rec);
	metric_write_label(&metric, json_get_str(rec, "metric"));
	markup_printf(s,
	    "<span class=\"size %s\">%s</span> %s<br><span class=\"quiet\">",
	    changegroup_class(g), size.s, metric.s);
	if (!isnan(pace))
		str_printf(s, "%+.2g%% every 10 commits, ", 1000 * pace);
	str_printf(s, "%zu case%s</span>", cases, num_plural((double)cases));
	str_free(&size);
	str_free(&metric);
}

static void
write_kind(struct str *s, const struct changegroup *g)
{
	struct str kind = {0};

	changegroup_kind(&kind, g);
	markup_printf(s, "<br><span class=\"badge %s\">%s</span>",
	    changegroup_class(g), kind.s);
	if (g->state == CHANGEGROUP_WAIVED)
		markup_printf(s, "<br><span class=\"quiet\">%s</span>",
		    json_get_str(json_get(g->v[0].rec, "waiver"), "reason"));
	str_free(&kind);
}

static void
write_group(struct str *s, const struct index *x, const struct changegroup *g)
{
	markup_printf(s, "<tr id=\"change-%s\"><td>", g->key);
	write_size(s, g);
	if (g->state != CHANGEGROUP_OPEN)
		write_kind(s, g);
	str_add(s, "</td><td>");
	write_series(s, x, g);
	str_add(s, "</td><td>");
	write_place(s, x, g);
	str_add(s, "</td></tr>\n");
}

/* The tables of changes, in this order. */
enum part { PART_OPEN, PART_SLOW, PART_REST, PARTS };

static enum part
find_part(const struct changegroup *g)
{
	return g->state != CHANGEGROUP_OPEN ? PART_REST
	    : g->slow                       ? PART_SLOW
					    : PART_OPEN;
}

static size_t
count_part(const struct changegroups *all, enum part part)
{
	size_t n = 0;

	for (size_t i = 0; i < all->n; i++)
		n += find_part(&all->v[i]) == part;
	return n;
}

static void
write_part(struct str *s, const struct index *x, enum part part)
{
	static const char *const titles[] = {
	    "Open regressions", "Slow regressions", "Other changes"};
	const struct changegroups *all = x->changes;
	size_t n = count_part(all, part);

	if (!n)
		return;
	if (part == PART_REST)
		str_printf(s,
		    "<details id=\"others\"><summary><h2>%zu other "
		    "change%s</h2></summary>\n",
		    n, num_plural((double)n));
	else
		markup_printf(s, "<h2>%s</h2>\n", titles[part]);
	str_add(s, "<div class=\"changes\">\n");
	html_table(s, titles[part], NULL, "Change|Cases|Commit", NULL, 0);
	for (size_t i = 0; i < all->n; i++)
		if (find_part(&all->v[i]) == part)
			write_group(s, x, &all->v[i]);
	html_table_end(s);
	str_add(s, part == PART_REST ? "</div></details>\n" : "</div>\n");
}

/* --- the sentence at the top */

static void
add_count(struct str *s, size_t n, const char *one, const char *more)
{
	if (n)
		str_printf(
		    s, "%s%zu %s", s->len ? ", " : "", n, n == 1 ? one : more);
}

static void
write_lead(struct str *s, const struct index *x)
{
	const struct changegroups *all = x->changes;
	size_t open = count_part(all, PART_OPEN),
	       slow = count_part(all, PART_SLOW), count[CHANGEGROUP_SPIKE + 1];
	struct str text = {0};

	memset(count, 0, sizeof count);
	for (size_t i = 0; i < all->n; i++)
		count[all->v[i].state]++;
	add_count(&text, open, "open regression", "open regressions");
	add_count(&text, slow, "slow regression", "slow regressions");
	if (!open && !slow)
		str_add(&text,
		    x->unknown ? "the changes could not be found"
			       : "no open regression");
	add_count(&text, count[CHANGEGROUP_BACK], "reverted regression",
	    "reverted regressions");
	add_count(&text, count[CHANGEGROUP_WAIVED], "waived", "waived");
	add_count(
	    &text, count[CHANGEGROUP_BETTER], "improvement", "improvements");
	add_count(&text, count[CHANGEGROUP_SPIKE], "spike that went away",
	    "spikes that went away");
	*text.s = (char)(*text.s >= 'a' ? *text.s - 32 : *text.s);
	markup_printf(s, "<p class=\"verdict %s\">%s.</p>\n",
	    open + slow ? "regression" : "same", text.s);
	str_free(&text);
}

static void
write_facts(struct str *s, const struct index *x)
{
	const struct archive *a = x->archive;

	if (!a->n) {
		str_add(s, "<p>No commits yet.</p>\n");
		return;
	}
	str_printf(s, "<p class=\"quiet\">%zu commit%s, %zu case%s, %s to %s.",
	    a->n, num_plural((double)a->n), a->cases,
	    num_plural((double)a->cases), a->v[0].day, a->v[a->n - 1].day);
	if (*x->trends->common && x->trends->ncases == a->cases)
		markup_printf(s, " All cases: %s.", x->trends->common);
	if (a->n < 10)
		str_add(s,
		    " Changes are found from 10 commits on, those of exact "
		    "counts from 2.");
	str_add(s, "</p>\n");
}

/* --- commits */

/* Returns the place of the commit in the trends, which other files may share;
 * or n if it is of another branch or not judged. */
static size_t
find_place(const struct trends *t, const struct archive_entry *e)
{
	size_t at = trends_find_commit(t, e->subject);

	return at < t->n && trends_same_branch(t->commits[at], e) ? at : t->n;
}

void
index_write_status(struct str *s, const struct index *x,
    const struct archive_entry *e, const char *index)
{
	const struct trends *t = x->trends;
	size_t at = find_place(t, e);

	for (size_t i = 0; at < t->n && i < x->changes->n; i++) {
		const struct changegroup *g = &x->changes->v[i];
		size_t cases = changegroup_cases(g);
		struct str kind = {0}, size = {0};

		if (g->at != at)
			continue;
		changegroup_kind(&kind, g);
		changegroup_percent(&size, g->v[0].rec);
		markup_printf(s,
		    "<a class=\"badge %s\" href=\"%s#change-%s\">%s</a> %s%s "
		    "in %zu case%s<br>\n",
		    changegroup_class(g), index, g->key, kind.s,
		    g->n > 1 ? "up to " : "", size.s, cases,
		    num_plural((double)cases));
		str_free(&kind);
		str_free(&size);
	}
}

static void
write_commit_row(
    struct str *s, const struct index *x, const struct archive_entry *e)
{
	const struct archive_entry *newest = x->trends->newest;
	struct str status = {0};

	index_write_status(&status, x, e, "");
	str_printf(s, "<tr data-status=\"%s%s\"><th scope=\"row\">",
	    status.len ? "changed" : "same", e->failed ? " failed" : "");
	archive_entry_link(s, e, INDEX_PAGES "/");
	str_printf(s, "</th><td class=\"day\">%s</td><td>", e->day);
	if (status.len)
		str_add(s, status.s);
	else if (find_place(x->trends, e) == x->trends->n)
		markup_printf(s, "<span class=\"quiet\">%s</span> ",
		    !newest || trends_same_branch(e, newest)
			? "not judged"
			: trends_branch(e));
	else if (!x->unknown && !e->failed)
		str_add(s, "<span class=\"quiet\">no change</span>");
	if (e->failed)
		str_printf(s,
		    "<span class=\"badge regression\">%zu failed run%s</span>",
		    e->failed, num_plural((double)e->failed));
	str_printf(s,
	    "</td><td class=\"n\">%zu</td><td class=\"n\">%zu</td></tr>\n",
	    e->cases, e->runs);
	str_free(&status);
}

static void
write_commits(struct str *s, const struct index *x)
{
	static const char *const values[] = {"changed", "failed"},
				 *const texts[] = {
				     "with changes", "with failed runs"};
	const struct html_filter filter = {
	    "status", "Status", values, texts, 2};
	const struct archive *a = x->archive;

	if (!a->n)
		return;
	str_add(s, "<h2>Commits</h2>\n");
	html_browse(s, COMMITS, "Commit", &filter, 1);
	html_table(
	    s, "Commits", NULL, "Commit|Date|Status|>Cases|>Runs", NULL, 0);
	for (size_t i = a->n; i-- > 0;)
		write_commit_row(s, x, &a->v[i]);
	html_table_end(s);
	html_browse_end(s);
}

void
index_write(struct str *s, const struct index *x)
{
	struct str style = {0};
	struct html_page page = {.title = "Benchmark history",
	    .program = "vkb-history",
	    .script = index_script};

	plot_add_style(&style);
	str_add(&style, index_style);
	page.style = style.s;
	html_begin(s, &page);
	str_add(s, "<main>\n<h1>Benchmark history</h1>\n");
	write_lead(s, x);
	write_facts(s, x);
	for (size_t i = 0; i < PARTS; i++)
		write_part(s, x, (enum part)i);
	write_case_charts(s, x);
	write_commits(s, x);
	str_add(s, "</main>\n<p id=\"tip\" role=\"status\" hidden></p>\n");
	html_end(s, &page);
	str_free(&style);
}
