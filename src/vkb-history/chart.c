#include "chart.h"
#include "archive.h"
#include "changegroup.h"
#include "clock.h"
#include "entry.h"
#include "json.h"
#include "machines.h"
#include "markup.h"
#include "mem.h"
#include "metric.h"
#include "num.h"
#include "stats.h"
#include "str.h"
#include "trends.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define SPAN .04 /* the axis shows at least this part of a value */
#define NEAR 20  /* percent of the width between labels on one line */

struct mark { /* a change of the series */
	const struct changegroup *group;
	const struct changegroup_one *one;
};

struct chart {
	struct str *to;
	const struct trends *t;
	const struct trend_series *s;
	struct mark *v; /* the oldest first */
	size_t n;
	bool *outside; /* by commit: of a spike */
	double lo, hi; /* of the axis */
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
	double middle, room;

	c->lo = INFINITY;
	c->hi = -INFINITY;
	for (int all = 0; all < 2 && c->lo > c->hi; all++)
		for (size_t i = 0; i < c->t->n; i++) {
			if (c->outside[i] && !all)
				continue;
			c->lo = fmin(c->lo, c->s->v[i]); /* ignores NAN */
			c->hi = fmax(c->hi, c->s->v[i]);
		}
	middle = (c->lo + c->hi) / 2;
	room = fmax(fabs(middle) * SPAN, c->hi - c->lo);
	room = room > 0 ? room * .55 : 1;
	c->lo = middle - room;
	c->hi = middle + room;
}

/* Returns the height from the top of the axis, 0 to 100. */
static double
map_value(const struct chart *c, double v)
{
	return fmin(fmax(100 * (c->hi - v) / (c->hi - c->lo), 0), 100);
}

static void
draw_values(struct chart *c)
{
	const char *way = "M";

	str_add(c->to, "<path class=\"line\" d=\"");
	for (size_t i = 0; i < c->t->n; i++)
		if (!isnan(c->s->v[i])) {
			str_printf(c->to, "%s%.1f %.1f", way, (double)i + .5,
			    map_value(c, c->s->v[i]));
			way = "L";
		}
	str_add(c->to, "\"/><path class=\"dots\" d=\"");
	for (size_t i = 0; i < c->t->n; i++)
		if (!isnan(c->s->v[i]))
			str_printf(c->to, "M%.1f %.1fh0", (double)i + .5,
			    map_value(c, c->s->v[i]));
	str_add(c->to, "\"/>");
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
		y = map_value(c, stats_middle(v, n));
		str_printf(c->to, "M%zu %.1fH%zu", from, y, to);
	}
	free(v);
}

static void
draw_slope(struct chart *c, const struct mark *m)
{
	const struct json *ends = json_get(m->one->rec, "median");

	str_printf(c->to,
	    "<path class=\"level %s\" d=\"M%.1f %.1fL%.1f %.1f\"/>",
	    changegroup_class(m->group), (double)m->one->at + .5,
	    map_value(c, json_num(json_at(ends, 0), NAN)),
	    (double)m->one->end + .5,
	    map_value(c, json_num(json_at(ends, 1), NAN)));
}

static void
draw_step(struct chart *c, const struct mark *m)
{
	str_printf(c->to, "<path class=\"step %s\" d=\"M%zu 0V100\"/>",
	    changegroup_class(m->group), m->one->at);
}

static void
draw_levels(struct chart *c)
{
	size_t from = 0;

	str_add(c->to, "<path class=\"level\" d=\"");
	for (size_t i = 0; i < c->n; i++) {
		const struct mark *m = &c->v[i];

		if (m->group->state == CHANGEGROUP_SPIKE)
			continue;
		draw_level(c, from, m->one->at);
		from = m->group->slow ? m->one->end + 1 : m->one->at;
	}
	draw_level(c, from, c->t->n);
	str_add(c->to, "\"/>");
	for (size_t i = 0; i < c->n; i++)
		if (c->v[i].group->slow)
			draw_slope(c, &c->v[i]);
		else if (c->v[i].group->state != CHANGEGROUP_SPIKE)
			draw_step(c, &c->v[i]);
}

/* Writes how much each change was, above its place; labels near each other on
 * two lines. */
static void
write_labels(struct chart *c)
{
	double last = -INFINITY;
	bool below = false;

	for (size_t i = 0; i < c->n; i++) {
		const struct mark *m = &c->v[i];
		size_t place = m->group->slow ? (m->one->at + m->one->end) / 2
					      : m->one->at;
		double x = 100 * (double)place / (double)c->t->n;
		struct str s = {0};

		if (m->group->state == CHANGEGROUP_SPIKE)
			continue;
		below = x - last < NEAR && !below;
		last = x;
		changegroup_percent(&s, m->one->rec);
		markup_printf(c->to,
		    "<text class=\"label %s %s\" x=\"%.1f%%\" "
		    "y=\"%d\">%s</text>",
		    changegroup_class(m->group),
		    x < 10       ? "start"
			: x > 90 ? "end"
				 : "middle",
		    x, below ? 23 : 11, s.s);
		str_free(&s);
	}
}

/* Marks the values beyond the axis with arrows. */
static void
write_arrows(struct chart *c)
{
	for (size_t i = 0; i < c->t->n; i++)
		if (c->s->v[i] > c->hi || c->s->v[i] < c->lo)
			str_printf(c->to,
			    "<text class=\"arrow middle\" x=\"%.1f%%\" "
			    "y=\"%d\">%s</text>",
			    100 * ((double)i + .5) / (double)c->t->n,
			    c->s->v[i] > c->hi ? 34 : 90,
			    c->s->v[i] > c->hi ? "&#9650;" : "&#9660;");
}

/* Writes the first date, the last, and one between them if there is room. */
static void
write_dates(struct chart *c)
{
	static const char *const anchors[] = {"start", "middle", "end"};
	char day[CLOCK_ISO], before[CLOCK_ISO] = "";
	size_t n = c->t->n;

	for (size_t k = 0; k < 3; k++) {
		if (k == 1 && n < 9)
			continue;
		entry_day(day, c->t->commits[k * (n - 1) / 2]);
		if (strcmp(day, before) == 0)
			continue;
		strcpy(before, day);
		str_printf(c->to,
		    "<text class=\"date %s\" x=\"%zu%%\" y=\"103\">%s</text>",
		    anchors[k], 50 * k, day);
	}
}

/* The script shows a value with the commit under the pointer. */
static void
write_texts(struct chart *c)
{
	char buf[NUM_BUF];

	for (size_t i = 0; i < c->t->n; i++)
		str_printf(c->to, "%s%s", i ? " " : "",
		    isnan(c->s->v[i]) ? "-" : num_human(buf, c->s->v[i]));
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
write_summary(struct chart *c)
{
	const struct metric m = metric_guess(c->s->metric);
	struct str name = {0};
	char buf[NUM_BUF];

	metric_write_label(&name, c->s->metric);
	markup_printf(c->to, "%s of %s at %zu commits, now %s %s", name.s,
	    c->t->cases[c->s->kase].name, c->t->n,
	    num_human(buf, chart_find_last(c->t, c->s)), m.unit);
	for (size_t i = 0; i < c->n; i++) {
		struct str s = {0};

		changegroup_percent(&s, c->v[i].one->rec);
		markup_printf(
		    c->to, ", %s at commit %zu", s.s, c->v[i].one->at + 1);
		str_free(&s);
	}
	str_free(&name);
}

void
chart_write(struct str *to, const struct trends *t,
    const struct trend_series *s, const struct changegroups *all)
{
	struct chart c = {.to = to, .t = t, .s = s};
	char lo[NUM_BUF], hi[NUM_BUF];

	c.outside = mem_array(t->n + 1, sizeof *c.outside);
	collect_marks(&c, all);
	fit_axis(&c);
	str_printf(to,
	    "<div class=\"chart\"><div class=\"axis\"><span>%s</span>"
	    "<span>%s</span></div><svg class=\"spark\" role=\"img\" "
	    "aria-label=\"",
	    num_human(hi, c.hi), num_human(lo, c.lo));
	write_summary(&c);
	markup_printf(to, "\" data-unit=\"%s\" data-values=\"",
	    metric_guess(s->metric).unit);
	write_texts(&c);
	str_printf(to,
	    "\"><svg y=\"26\" width=\"100%%\" height=\"64\" viewBox=\"0 0 %zu "
	    "100\" preserveAspectRatio=\"none\"><path class=\"frame\" "
	    "d=\"M0 0H%zuM0 100H%zu\"/>",
	    t->n, t->n, t->n);
	draw_values(&c);
	draw_levels(&c);
	str_add(to, "<use href=\"#columns\"/></svg>");
	write_labels(&c);
	write_arrows(&c);
	write_dates(&c);
	str_add(to, "</svg></div>\n");
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
		    "<rect x=\"%zu\" width=\"1\" height=\"100\" "
		    "data-page=\"%s\"><title>%s</title></rect>\n",
		    i, t->commits[i]->key, label.s);
		str_free(&label);
	}
	str_add(s, "</g></defs></svg>\n");
}
