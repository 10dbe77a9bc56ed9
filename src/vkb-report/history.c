#include "figure.h"
#include "forest.h"
#include "json.h"
#include "mem.h"
#include "model.h"
#include "plot.h"
#include "stats.h"
#include "str.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STEPS = 400 };

/* Orders cells by time, also those of the baseline. */
static int
compare_by_time(const void *a, const void *b)
{
	const struct cell *const *x = a, *const *y = b;
	const char *s = (*x)->subject->time, *t = (*y)->subject->time;

	if (s && t && strcmp(s, t) != 0)
		return strcmp(s, t);
	if (!s != !t)
		return s ? -1 : 1;
	return (*x)->subject->place < (*y)->subject->place ? -1 : 1;
}

struct points {
	const struct cell **c;
	double *x, *median, *lo, *hi; /* in one block */
	const char **names;
	size_t n;
};

static void
collect_points(struct points *p, const struct kase *k, const char *metric)
{
	size_t size = k->ncells + 1;

	*p = (struct points){.c = mem_array(size, sizeof *p->c),
	    .x = mem_array(4 * size, sizeof *p->x),
	    .names = mem_array(size, sizeof *p->names)};
	p->median = p->x + size;
	p->lo = p->median + size;
	p->hi = p->lo + size;
	for (size_t i = 0; i < k->ncells; i++)
		if (model_metric(k->cells[i], metric))
			p->c[p->n++] = k->cells[i];
	if (p->n)
		qsort(p->c, p->n, sizeof *p->c, compare_by_time);
	for (size_t i = 0; i < p->n; i++) {
		const struct json *one = model_metric(p->c[i], metric);
		const struct json *ci = json_get(one, "ci95");

		p->x[i] = (double)i;
		p->median[i] = json_get_num(one, "median", NAN);
		p->lo[i] = json_num(json_at(ci, 0), p->median[i]);
		p->hi[i] = json_num(json_at(ci, 1), p->median[i]);
		p->names[i] = p->c[i]->subject->name;
	}
}

static void
draw_changes(struct plot *p, const struct model *m, const struct kase *k,
    const char *metric, const struct points *v)
{
	struct str t = {0};

	for (size_t i = 0; i < m->nchanges; i++) {
		const struct change *c = &m->changes[i];
		bool worse = strcmp(c->way, "regression") == 0;
		bool better = strcmp(c->way, "improvement") == 0;

		if (c->kase != k || strcmp(c->metric, metric) != 0)
			continue;
		str_clear(&t);
		str_printf(&t, "%s%s at %s: ", c->way == c->kind ? "" : "slow ",
		    c->way, c->subject->name);
		forest_percent(&t, c->rec, c->ratio);
		for (size_t j = 0; j < v->n; j++)
			if (v->c[j]->subject == c->subject)
				plot_vertical(p, (double)j,
				    worse        ? "change worse"
					: better ? "change better"
						 : "change",
				    t.s);
	}
	str_free(&t);
}

/* Reduces many points to STEPS medians and ranges. Returns their number. */
static size_t
thin_points(struct points *v)
{
	size_t n = v->n < STEPS ? v->n : STEPS;

	for (size_t i = 0; i < n && n < v->n; i++) {
		size_t from = i * v->n / n, len = (i + 1) * v->n / n - from;

		for (size_t k = from; k < from + len; k++) {
			v->lo[i] =
			    k == from ? v->lo[k] : fmin(v->lo[i], v->lo[k]);
			v->hi[i] =
			    k == from ? v->hi[k] : fmax(v->hi[i], v->hi[k]);
		}
		stats_sort(v->median + from, len);
		v->median[i] = v->median[from + len / 2];
		v->x[i] = (double)from + (double)(len - 1) / 2;
	}
	return n;
}

void
figure_history(struct plot *p, const struct model *m, const struct kase *k,
    const char *metric)
{
	struct points v;
	struct str t = {0};
	size_t n;

	collect_points(&v, k, metric);
	p->x = AXIS(AXIS_LINEAR, NULL);
	p->y.scale = AXIS_LINEAR;
	p->xnames = v.names;
	p->nxnames = v.n;
	for (size_t i = 0; i < v.n; i++) {
		axis_fit(&p->x, v.x[i]);
		axis_fit(&p->y, v.median[i]);
		axis_fit(&p->y, v.lo[i]);
		axis_fit(&p->y, v.hi[i]);
	}
	n = thin_points(&v);
	plot_open(p);
	plot_band(p, v.x, v.lo, v.hi, n, 0);
	draw_changes(p, m, k, metric, &v);
	plot_line(p, v.x, v.median, n, 0, "line");
	for (size_t i = 0; i < v.n && v.n <= FIGURE_DOTS; i++) {
		str_clear(&t);
		str_printf(&t, "%s: %.6g", v.names[i], v.median[i]);
		plot_dot(p, v.x[i], v.median[i], 0, t.s);
	}
	plot_close(p);
	str_free(&t);
	free(v.c);
	free(v.x);
	free(v.names);
}
