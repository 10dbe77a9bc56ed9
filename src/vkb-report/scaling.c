#include "scaling.h"
#include "casename.h"
#include "caseset.h"
#include "figure.h"
#include "json.h"
#include "mem.h"
#include "model.h"
#include "intern.h"
#include "plot.h"
#include "str.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Returns the numeric keys that differ between configs; the caller frees it. */
static struct intern *
find_varying_keys(const struct model *m)
{
	struct intern *keys = intern_new(), *varies = intern_new();
	double *first = NULL;
	size_t cap = 0, n = 0;

	for (size_t i = 0; i < m->ncases; i++) {
		const struct json *j = json_first(m->cases[i]->config);

		for (; j; j = json_next(j)) {
			double v = json_num(j, NAN);
			size_t id;

			if (isnan(v))
				continue;
			id = intern_id(keys, json_key(j));
			if (id == n) {
				first = mem_grow(first, n, &cap, sizeof *first);
				first[n++] = v;
			} else if (first[id] != v)
				intern_id(varies, json_key(j));
		}
	}
	free(first);
	intern_free(keys);
	return varies;
}

static int
compare_by_x(const void *a, const void *b)
{
	const struct scaling_point *x = a, *y = b;

	return x->x < y->x ? -1 : x->x > y->x;
}

static void
free_group(struct scaling_group *g)
{
	free(g->key);
	free(g->name);
	free(g->points);
}

/* Adds all groups of two or more cases that differ in 'key' only. */
static void
add_groups(struct scaling *s, const struct model *m, const char *key)
{
	struct caseset *ids = caseset_new();
	struct json **rest = mem_array(m->ncases + 1, sizeof *rest);
	struct casename *names;
	size_t from = s->n, nrest = 0, to = from;

	for (size_t i = 0; i < m->ncases; i++) {
		const struct kase *k = m->order[i];
		double x = json_get_num(k->config, key, NAN);
		struct scaling_group *g;
		struct json *config;
		size_t id;

		if (isnan(x))
			continue;
		config = json_dup(k->config);
		json_del(config, key);
		/* A scenario of another size has another name. */
		if (strcmp(key, "data_size") == 0 &&
		    json_get(config, "command")) {
			json_del(config, "test_id");
			json_del(config, "scenario");
		}
		id = caseset_add_value(ids, config);
		if (id == nrest) {
			s->v = mem_grow(s->v, s->n, &s->cap, sizeof *s->v);
			s->v[s->n++] =
			    (struct scaling_group){.key = mem_str(key)};
			rest[nrest++] = config;
		} else
			json_free(config);
		g = &s->v[from + id];
		g->points =
		    mem_grow(g->points, g->n, &g->cap, sizeof *g->points);
		g->points[g->n++] = (struct scaling_point){x, k};
	}
	names = casename_new((const struct json *const *)rest, nrest);
	for (size_t i = 0; i < nrest; i++) {
		struct scaling_group *g = &s->v[from + i];

		if (g->n < 2)
			free_group(g);
		else {
			g->name = casename_of(names, rest[i]);
			qsort(g->points, g->n, sizeof *g->points, compare_by_x);
			s->v[to++] = *g;
		}
		json_free(rest[i]);
	}
	s->n = to;
	casename_free(names);
	caseset_free(ids);
	free(rest);
}

struct scaling *
scaling_new(const struct model *m)
{
	struct scaling *s = mem_new(sizeof *s);
	struct intern *keys = find_varying_keys(m);

	for (size_t i = 0; i < intern_count(keys); i++)
		add_groups(s, m, intern_text(keys, i));
	intern_free(keys);
	return s;
}

void
scaling_free(struct scaling *s)
{
	for (size_t i = 0; s && i < s->n; i++)
		free_group(&s->v[i]);
	if (s)
		free(s->v);
	free(s);
}

static const struct cell *
find_cell(const struct kase *k, const struct subject *who)
{
	for (size_t i = 0; i < k->ncells; i++)
		if (k->cells[i]->subject == who)
			return k->cells[i];
	return NULL;
}

bool
scaling_is_by_rate(const struct scaling_group *g)
{
	return strcmp(g->key, "rate") == 0;
}

bool
scaling_is_by_size(const struct scaling_group *g)
{
	return strcmp(g->key, "data_size") == 0;
}

/* Returns where a cell is drawn. */
static double
get_place(const struct scaling_group *g, size_t i, const struct cell *c,
    const char *metric)
{
	if (!scaling_is_by_rate(g) || strcmp(metric, "rps") == 0)
		return g->points[i].x;
	return json_get_num(model_metric(c, "rps"), "median", g->points[i].x);
}

static void
fit_group(struct plot *p, const struct scaling_group *g, const char *metric)
{
	for (size_t i = 0; i < g->n; i++)
		for (size_t k = 0; k < g->points[i].kase->ncells; k++) {
			const struct json *one =
			    model_metric(g->points[i].kase->cells[k], metric);

			if (g->points[i].kase->cells[k]->subject->look ==
			    MODEL_LOOKS)
				continue;
			axis_fit(&p->x,
			    get_place(
				g, i, g->points[i].kase->cells[k], metric));
			figure_fit(p, one);
		}
}

static void
draw_subject(struct plot *p, const struct scaling_group *g, const char *metric,
    const struct subject *who)
{
	double *x = mem_array(g->n, sizeof *x), *y = mem_array(g->n, sizeof *y);
	size_t n = 0, look = who->look;
	struct str t = {0};

	for (size_t i = 0; i < g->n; i++) {
		const struct cell *c = find_cell(g->points[i].kase, who);
		const struct json *one = c ? model_metric(c, metric) : NULL;
		struct range ci = model_range(json_get(one, "ci95"));

		if (!one)
			continue;
		x[n] = get_place(g, i, c, metric);
		y[n] = json_get_num(one, "median", NAN);
		plot_whisker(p, x[n++], ci.lo, ci.hi, look);
	}
	plot_line(p, x, y, n, look, "line");
	for (size_t i = 0; i < n; i++) {
		str_clear(&t);
		str_printf(
		    &t, "%s, %s %.12g: %.6g", who->name, g->key, x[i], y[i]);
		plot_dot(p, x[i], y[i], look, t.s);
	}
	str_free(&t);
	free(x);
	free(y);
}

void
scaling_draw(struct plot *p, const struct model *m,
    const struct scaling_group *g, const char *metric)
{
	double least = g->points[0].x, most = g->points[g->n - 1].x;

	bool latency = scaling_is_by_rate(g) && strcmp(metric, "rps") != 0;

	p->x = AXIS(
	    least > 0 && most / least >= 8 ? AXIS_LOG : AXIS_LINEAR, g->key);
	if (latency)
		p->x.label = "achieved rate, req/s";
	p->y.scale = latency ? AXIS_LOG : AXIS_LINEAR;
	axis_fit(&p->y, 0);
	fit_group(p, g, metric);
	plot_open(p);
	for (size_t i = 0; i < m->nsubjects; i++)
		if (m->ordered[i]->look < MODEL_LOOKS)
			draw_subject(p, g, metric, m->ordered[i]);
	plot_close(p);
}
