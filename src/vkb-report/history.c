#include "figure.h"
#include "forest.h"
#include "intern.h"
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

#define SEVERAL "several machines together"
#define OTHERS "other machines"
#define UNKNOWN "unknown machine"

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
		v->x[i] = (v->x[from] + v->x[from + len - 1]) / 2;
	}
	return n;
}

static void
free_points(struct points *v)
{
	free(v->c);
	free(v->x);
	free(v->names);
}

/* Returns the host whose runs the cell has. */
static const char *
find_host(const struct cell *c)
{
	const struct json *varied = json_get(c->rec, "env_varied"), *j;
	const char *host = json_get_str(json_get(c->rec, "env"), "host");

	for (j = json_first(varied); j; j = json_next(j))
		if (json_str(j) && strcmp(json_str(j), "host") == 0)
			return SEVERAL;
	return host && *host ? host : UNKNOWN;
}

/* Sets the look of each point, one for each host, and the legend. Returns the
 * number of looks. Caller frees *look. */
static size_t
tell_hosts_apart(struct plot *p, const struct points *v,
    const char *legend[MODEL_LOOKS], size_t **look)
{
	struct intern *seen = intern_new();
	size_t n;

	*look = mem_array(v->n + 1, sizeof **look);
	for (size_t i = 0; i < v->n; i++) {
		const char *host = find_host(v->c[i]);
		size_t id = intern_id(seen, host);

		(*look)[i] = id < MODEL_LOOKS ? id : MODEL_LOOKS - 1;
		if (id < MODEL_LOOKS)
			legend[id] = host;
	}
	n = intern_count(seen);
	if (n > MODEL_LOOKS) {
		legend[MODEL_LOOKS - 1] = OTHERS;
		n = MODEL_LOOKS;
	}
	if (n > 1) {
		p->legend = legend;
		p->nlegend = n;
		p->own_legend = true;
	}
	intern_free(seen);
	return n;
}

/* Draws the points with this look, in the order of v. */
static void
draw_host(
    struct plot *p, const struct points *v, const size_t *look, size_t which)
{
	struct points one = {.x = mem_array(4 * v->n + 1, sizeof *one.x)};
	struct str t = {0};
	size_t n;

	one.median = one.x + v->n;
	one.lo = one.median + v->n;
	one.hi = one.lo + v->n;
	for (size_t i = 0; i < v->n; i++) {
		if (look[i] != which)
			continue;
		one.x[one.n] = v->x[i];
		one.median[one.n] = v->median[i];
		one.lo[one.n] = v->lo[i];
		one.hi[one.n++] = v->hi[i];
	}
	n = thin_points(&one);
	plot_band(p, one.x, one.lo, one.hi, n, which);
	plot_line(p, one.x, one.median, n, which, "line");
	for (size_t i = 0; i < v->n && v->n <= FIGURE_DOTS; i++) {
		if (look[i] != which)
			continue;
		str_clear(&t);
		str_printf(&t, "%s: %.6g", v->names[i], v->median[i]);
		if (p->nlegend)
			str_printf(&t, " on %s", find_host(v->c[i]));
		plot_dot(p, v->x[i], v->median[i], which, t.s);
	}
	str_free(&t);
	free_points(&one);
}

void
figure_history(struct plot *p, const struct model *m, const struct kase *k,
    const char *metric)
{
	struct points v;
	const char *legend[MODEL_LOOKS];
	size_t *look, n;

	collect_points(&v, k, metric);
	n = tell_hosts_apart(p, &v, legend, &look);
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
	plot_open(p);
	draw_changes(p, m, k, metric, &v);
	for (size_t i = 0; i < n; i++)
		draw_host(p, &v, look, i);
	plot_close(p);
	free(look);
	free_points(&v);
}
