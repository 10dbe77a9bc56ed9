#include "chart.h"
#include "archive.h"
#include "changegroup.h"
#include "entry.h"
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

/* Was the change seen on the machine of the series, or on none of the machines
 * that have a series here? vkb-detect reads all branches, so a host with few
 * commits of this branch may be a separate machine there. */
static bool
is_shown(const struct chart *c, const struct json *rec)
{
	const struct machines *m = c->t->machines;
	const struct json *j = json_first(json_get(rec, "machines"));
	bool known = false;

	for (; j; j = json_next(j)) {
		const char *one = json_get_str(j, "machine");

		for (size_t i = 0; one && i < machines_count(m); i++) {
			if (strcmp(one, machines_name(m, i)) != 0)
				continue;
			if (i == c->s->machine)
				return true;
			known = true;
		}
	}
	return !known;
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
			c->v = mem_grow(c->v, c->n, &cap, sizeof *c->v);
			c->v[c->n++] = (struct mark){&all->v[i], one};
		}
	if (c->n)
		qsort(c->v, c->n, sizeof *c->v, compare_marks);
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

double
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

void
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

void
chart_write_columns(struct str *s, const struct trends *t)
{
	str_add(s,
	    "<svg class=\"columns\" aria-hidden=\"true\"><defs>"
	    "<g id=\"columns\">\n");
	for (size_t i = 0; i < t->n; i++) {
		struct str label = {0};

		entry_label(&label, t->commits[i]);
		markup_printf(s,
		    "<rect x=\"%zu\" width=\"1\" height=\"1\" "
		    "data-page=\"%s\"><title>%s</title></rect>\n",
		    i, t->commits[i]->key, label.s);
		str_free(&label);
	}
	str_add(s, "</g></defs></svg>\n");
}
