#include "figure.h"
#include "json.h"
#include "mem.h"
#include "model.h"
#include "plot.h"
#include "str.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A history is in the order of time, whoever is the baseline. */
static int
by_time(const void *a, const void *b)
{
	const struct cell *const *x = a, *const *y = b;
	const char *s = json_str(json_path((*x)->rec, "subject.time"));
	const char *t = json_str(json_path((*y)->rec, "subject.time"));

	if (s && t && strcmp(s, t) != 0)
		return strcmp(s, t);
	if (!s != !t)
		return s ? -1 : 1;
	return (*x)->place < (*y)->place ? -1 : 1;
}

struct points {
	const struct cell **c;
	double *x, *median, *lo, *hi;
	const char **names;
	size_t n;
};

static void
points_of(struct points *p, const struct model *m, const struct kase *k,
    const char *metric)
{
	size_t room = k->ncells + 1;

	*p = (struct points){.c = mem_array(room, sizeof *p->c),
	    .x = mem_array(room, sizeof *p->x),
	    .median = mem_array(room, sizeof *p->median),
	    .lo = mem_array(room, sizeof *p->lo),
	    .hi = mem_array(room, sizeof *p->hi),
	    .names = mem_array(room, sizeof *p->names)};
	for (size_t i = 0; i < k->ncells; i++)
		if (model_metric(k->cells[i], metric))
			p->c[p->n++] = k->cells[i];
	if (p->n)
		qsort(p->c, p->n, sizeof *p->c, by_time);
	for (size_t i = 0; i < p->n; i++) {
		const struct json *one = model_metric(p->c[i], metric);
		const struct json *ci = json_get(one, "ci95");

		p->x[i] = (double)i;
		p->median[i] = json_get_num(one, "median", NAN);
		p->lo[i] = json_num(json_at(ci, 0), p->median[i]);
		p->hi[i] = json_num(json_at(ci, 1), p->median[i]);
		p->names[i] = m->subjects[p->c[i]->subject].name;
	}
}

static void
points_free(struct points *p)
{
	free(p->c);
	free(p->x);
	free(p->median);
	free(p->lo);
	free(p->hi);
	free(p->names);
}

static void
changes(struct plot *p, const struct model *m, const struct kase *k,
    const char *metric, const struct points *v)
{
	struct str t = {0};

	for (size_t i = 0; i < m->changes.n; i++) {
		const struct json *rec = m->changes.v[i];
		const char *name = json_get_str(rec, "metric");
		const char *kind = json_get_str(rec, "kind");
		const struct subject *s;

		if (!name || strcmp(name, metric) != 0 ||
		    model_case(m, json_get(rec, "config")) != k)
			continue;
		s = model_subject(m, json_get(rec, "subject"));
		for (size_t j = 0; j < v->n; j++) {
			if (&m->subjects[v->c[j]->subject] != s)
				continue;
			str_clear(&t);
			str_printf(&t, "%s at %s: %+.1f%%", kind, s->name,
			    100 * (json_get_num(rec, "ratio", 1) - 1));
			plot_upright(p, v->x[j],
			    strcmp(kind, "regression") == 0 ? "change worse"
				: strcmp(kind, "improvement") == 0
				? "change better"
				: "change",
			    t.s);
		}
	}
	str_free(&t);
}

void
figure_history(struct plot *p, const struct model *m, const struct kase *k,
    const char *metric)
{
	struct points v;
	struct str t = {0};

	points_of(&v, m, k, metric);
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
	plot_band(p, v.x, v.lo, v.hi, v.n, 0);
	changes(p, m, k, metric, &v);
	plot_line(p, v.x, v.median, v.n, 0, "line");
	for (size_t i = 0; i < v.n && v.n <= FIGURE_DOTS; i++) {
		str_clear(&t);
		str_printf(&t, "%s: %.6g", v.names[i], v.median[i]);
		plot_dot(p, v.x[i], v.median[i], 0, t.s);
	}
	plot_close(p);
	str_free(&t);
	points_free(&v);
}
