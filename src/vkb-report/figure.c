#include "figure.h"
#include "json.h"
#include "mem.h"
#include "metric.h"
#include "model.h"
#include "intern.h"
#include "plot.h"
#include "scaling.h"
#include "str.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

_Static_assert((int)MODEL_LOOKS == (int)PLOT_LOOKS, "all can be drawn");

enum { HISTORY = 4 }; /* a case with this many subjects gets a history plot */

static const char *const kind_names[FIGURE_KINDS] = {"comparison", "runs",
    "latency", "shift", "series", "curve", "history", "scaling", "values"};

size_t
figure_cells(const struct kase *k, const struct cell *to[MODEL_LOOKS])
{
	size_t n = 0;

	for (size_t i = 0; i < k->ncells; i++)
		if (k->cells[i]->subject->look < MODEL_LOOKS)
			to[n++] = k->cells[i];
	return n;
}

void
figure_fit(struct plot *p, const struct json *metric)
{
	struct range ci = model_range(json_get(metric, "ci95"));

	axis_fit(&p->y, json_get_num(metric, "median", NAN));
	axis_fit(&p->y, ci.lo);
	axis_fit(&p->y, ci.hi);
}

void
figure_label(struct str *s, const char *metric)
{
	struct metric m = metric_guess(metric);
	struct str t = {0};

	metric_write_label(&t, metric);
	str_cut(&t, 60);
	str_printf(s, *m.unit ? "%s, %s" : "%s", t.s, m.unit);
	str_free(&t);
}

/* Returns "throughput by subject", for example; caller frees. */
static char *
format_brief(const char *metric, const char *what)
{
	struct str s = {0};

	metric_write_label(&s, metric);
	str_add(&s, what);
	return str_take(&s);
}

/* --- choice of figures */

static void
add_figure(struct figures *f, struct figure one)
{
	struct str s = {0};
	char number[32];

	str_add(&s, kind_names[one.kind]);
	snprintf(number, sizeof number, "-%zu",
	    (one.kase ? one.kase->place : one.group) + 1);
	if (one.kind != FIGURE_COMPARISON && one.kind != FIGURE_VALUES)
		str_add(&s, number);
	if (one.metric)
		str_printf(&s, "-%s", one.metric);
	one.name = str_take(&s);
	if (!one.title)
		one.title = mem_printf("%s: %s", one.kase->name, one.brief);
	f->v = mem_grow(f->v, f->n, &f->cap, sizeof *f->v);
	f->v[f->n++] = one;
}

/* Returns true for the metrics of --metrics; without it, for gates and for
 * metrics that a comparison found changed. */
static bool
is_shown(const struct figures *f, const struct kase *k, const char *metric)
{
	struct metric m = metric_guess(metric);
	bool gate;

	if (metric_is_shown(f->metrics, &m, -1, &gate))
		return true;
	for (size_t i = 0; i < k->ndeltas && !f->metrics; i++)
		if (strcmp(k->deltas[i]->metric, metric) == 0)
			return k->deltas[i]->gate ||
			    k->deltas[i]->verdict <= MODEL_LIKELY_DIFFERENT;
	return false;
}

/* Are all runs of all subjects equal, as counts may be? */
static bool
is_constant(const struct kase *k, const char *metric)
{
	double first = NAN;
	size_t n = 0;

	for (size_t i = 0; i < k->ncells; i++) {
		const struct json *j = json_first(
		    json_get(model_metric(k->cells[i], metric), "values"));

		for (; j; j = json_next(j)) {
			double v = json_num(j, NAN);

			if (n++ && v != first)
				return false;
			first = v;
		}
	}
	return n > 1;
}

static void
add_metric(struct figures *f, const struct kase *k, const char *name)
{
	bool history = k->ncells >= HISTORY || k->changes;

	if (!history && is_constant(k, name))
		return;
	add_figure(f,
	    (struct figure){.kind = history ? FIGURE_HISTORY : FIGURE_RUNS,
		.kase = k,
		.metric = name,
		.brief = format_brief(
		    name, history ? " by subject" : " of every run")});
}

const char **
figure_metrics(const struct kase *k, size_t *n)
{
	struct intern *seen = intern_new();
	const char **v = NULL;
	size_t cap = 0;

	*n = 0;
	for (size_t c = 0; c < k->ncells; c++) {
		const struct json *j =
		    json_first(json_get(k->cells[c]->rec, "metrics"));

		for (; j; j = json_next(j)) {
			if (intern_id(seen, json_key(j)) < *n)
				continue;
			v = mem_grow(v, *n, &cap, sizeof *v);
			v[(*n)++] = json_key(j);
		}
	}
	intern_free(seen);
	return v;
}

/* Adds the figures of all metrics; those of metric_table come first. */
static void
add_metrics(struct figures *f, const struct kase *k)
{
	size_t n;
	const char **v = figure_metrics(k, &n);

	for (const struct metric *t = metric_table; t->name; t++)
		for (size_t i = 0; i < n; i++)
			if (strcmp(v[i], t->name) == 0 && is_shown(f, k, v[i]))
				add_metric(f, k, v[i]);
	for (size_t i = 0; i < n; i++)
		if (!metric_find(v[i]) && is_shown(f, k, v[i]))
			add_metric(f, k, v[i]);
	free(v);
}

static bool
cell_has_data(const struct cell *c, const char *name, enum figure_kind kind)
{
	return kind == FIGURE_SERIES ? figure_has_series(c, name)
	    : kind == FIGURE_CURVE   ? figure_has_curve(c, name)
				     : figure_has_hist(c, name);
}

/* Adds a figure for each histogram or series that a drawn cell has. */
static void
add_named(struct figures *f, const struct kase *k, enum figure_kind kind)
{
	const struct cell *c[MODEL_LOOKS];
	size_t n = figure_cells(k, c);

	for (size_t i = 0; i < n; i++) {
		const struct json *j = kind == FIGURE_LATENCY
		    ? json_first(json_get(c[i]->rec, "hist"))
		    : c[i]->nseries ? json_first(c[i]->series[0])
				    : NULL;

		for (; j; j = json_next(j)) {
			const char *name = json_key(j);
			bool first = strcmp(name, "at_s") != 0 &&
			    cell_has_data(c[i], name, kind);

			for (size_t b = 0; b < i && first; b++)
				first = !cell_has_data(c[b], name, kind);
			if (!first)
				continue;
			add_figure(f,
			    (struct figure){.kind = kind,
				.kase = k,
				.metric = name,
				.brief = kind == FIGURE_LATENCY
				    ? mem_printf("percentiles of %.*s",
					  (int)strcspn(name, "_"), name)
				    : format_brief(name, " over time")});
		}
	}
}

/* Adds the latency by rate of a case whose capacity was searched. */
static void
add_curves(struct figures *f, const struct kase *k)
{
	const char *all[] = {
	    figure_curve_limited(k), "p50_latency_ms", "p99_latency_ms"};
	const struct cell *c[MODEL_LOOKS];
	size_t n = figure_cells(k, c);

	for (size_t i = 0; i < 3 && all[0]; i++)
		for (size_t at = 0;
		     at < n && (!i || strcmp(all[i], all[0]) != 0); at++)
			if (figure_has_curve(c[at], all[i])) {
				add_figure(f,
				    (struct figure){.kind = FIGURE_CURVE,
					.kase = k,
					.metric = all[i],
					.brief = format_brief(all[i],
					    " by rate, of every trial")});
				break;
			}
}

static void
add_shifts(struct figures *f)
{
	const struct model *m = f->m;

	for (size_t i = 0; i < m->shifts.n; i++) {
		const struct json *rec = m->shifts.v[i];

		add_figure(f,
		    (struct figure){.kind = FIGURE_SHIFT,
			.kase = model_case(m, json_get(rec, "config")),
			.group = i,
			.metric = json_get_str(rec, "hist"),
			.brief = mem_str("how the percentiles moved")});
	}
}

static void
add_scalings(struct figures *f)
{
	static const char *const all[] = {"rps", "p50_latency_ms",
	    "p99_latency_ms", "capacity_rps", "stored_bytes_per_key",
	    "memory_overhead_ratio"};
	struct str t = {0};

	f->scaling = scaling_new(f->m);
	for (size_t i = 0; i < f->scaling->n; i++)
		for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
			const struct scaling_group *g = &f->scaling->v[i];
			const struct kase *c = g->points[0].kase;

			if (!c->ncells || !model_metric(c->cells[0], all[k]) ||
			    (k == 1 && !scaling_is_by_rate(g)) ||
			    (k > 3 && !scaling_is_by_size(g)))
				continue;
			str_clear(&t);
			metric_write_label(&t, all[k]);
			str_printf(&t, " by %s: %s", g->key, g->name);
			add_figure(f,
			    (struct figure){.kind = FIGURE_SCALING,
				.group = i,
				.metric = all[k],
				.title = mem_str(t.s)});
		}
	str_free(&t);
}

/* Adds a figure of all cases for each gate, or metric of --metrics, that two or
 * more have. */
static void
add_values(struct figures *f)
{
	struct str t = {0};
	bool gate;

	for (const struct metric *k = metric_table; k->name; k++) {
		if (!metric_is_shown(f->metrics, k, -1, &gate) ||
		    figure_count_values(f->m, k->name) < 2)
			continue;
		str_clear(&t);
		metric_write_label(&t, k->name);
		str_add(&t, " of all cases, with 95% intervals");
		add_figure(f,
		    (struct figure){.kind = FIGURE_VALUES,
			.metric = k->name,
			.title = mem_str(t.s)});
	}
	str_free(&t);
}

void
figures_new(struct figures *f, const struct model *m, const char *metrics)
{
	*f = (struct figures){.m = m, .metrics = metrics};
	if (m->ndeltas)
		add_figure(f,
		    (struct figure){.kind = FIGURE_COMPARISON,
			.title = mem_str("all changes with their intervals")});
	for (size_t i = 0; i < m->ncases; i++) {
		add_metrics(f, m->order[i]);
		add_curves(f, m->order[i]);
		add_named(f, m->order[i], FIGURE_LATENCY);
		add_named(f, m->order[i], FIGURE_SERIES);
	}
	add_shifts(f);
	add_scalings(f);
	add_values(f);
}

void
figures_free(struct figures *f)
{
	for (size_t i = 0; i < f->n; i++) {
		free(f->v[i].name);
		free(f->v[i].title);
		free(f->v[i].brief);
	}
	free(f->v);
	scaling_free(f->scaling);
}

const struct figure *
figures_find(const struct figures *f, const char *name)
{
	for (size_t i = 0; i < f->n; i++)
		if (strcmp(f->v[i].name, name) == 0)
			return &f->v[i];
	return NULL;
}

/* --- drawing */

static size_t
filter_cells(const struct figure *f, const struct cell **c, size_t n)
{
	size_t k = 0;

	for (size_t i = 0; i < n; i++)
		if (f->kind == FIGURE_RUNS
			? model_metric(c[i], f->metric) != NULL
			: cell_has_data(c[i], f->metric, f->kind))
			c[k++] = c[i];
	return k;
}

void
figure_draw(struct str *to, const struct figures *all, const struct figure *f,
    bool whole)
{
	static void (*const draw[FIGURE_KINDS])(struct plot *, const char *,
	    const struct cell *const *, size_t) = {[FIGURE_RUNS] = figure_runs,
	    [FIGURE_LATENCY] = figure_latency,
	    [FIGURE_SERIES] = figure_series,
	    [FIGURE_CURVE] = figure_curve};
	const struct model *m = all->m;
	const struct cell *c[MODEL_LOOKS];
	const char *names[MODEL_LOOKS];
	struct str label = {0};
	struct plot p = {.to = to, .label = f->title, .whole = whole};
	size_t n = 0;

	if (f->kind == FIGURE_COMPARISON) {
		figure_comparison(to, m, whole);
		return;
	}
	figure_label(&label, f->metric);
	p.y = AXIS(AXIS_LINEAR, label.s);
	for (size_t i = 0; i < m->nsubjects; i++)
		if (m->ordered[i]->look < MODEL_LOOKS)
			names[p.nlegend++] = m->ordered[i]->name;
	p.legend = names;
	if (draw[f->kind]) {
		n = filter_cells(f, c, figure_cells(f->kase, c));
		draw[f->kind](&p, f->metric, c, n);
	} else if (f->kind == FIGURE_VALUES)
		figure_values(&p, m, f->metric);
	else if (f->kind == FIGURE_SCALING)
		scaling_draw(&p, m, &all->scaling->v[f->group], f->metric);
	else {
		p.nlegend = 0;
		if (f->kind == FIGURE_SHIFT)
			figure_shift(&p, m->shifts.v[f->group]);
		else
			figure_history(&p, m, f->kase, f->metric);
	}
	str_free(&label);
}
