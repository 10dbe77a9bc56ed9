#include "figure.h"
#include "json.h"
#include "mem.h"
#include "metric.h"
#include "model.h"
#include "num.h"
#include "plot.h"
#include "stats.h"
#include "str.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum {
	FEW = 40,   /* runs that are drawn below each other */
	STRIP = 30, /* pixels of a side */
	STEP = 10   /* pixels of a run */
};

/* Marks each run that begins another session. */
static void
draw_session_bounds(struct plot *p, const struct json *metric)
{
	const struct json *s = json_first(json_get(metric, "sessions"));
	double was = json_num(s, NAN), x = 1;

	for (; s; s = json_next(s), x++) {
		double now = json_num(s, NAN);

		if (now != was)
			plot_vertical(p, x - .5, "bound", "another session");
		was = now;
	}
}

/* Draws many runs as the median and range of each of STEPS steps. */
static void
draw_many_runs(struct plot *p, const double *v, size_t n, size_t place)
{
	enum { STEPS = 100 };
	double x[STEPS], lo[STEPS], mid[STEPS], hi[STEPS];
	double *part = mem_array(n / STEPS + 2, sizeof *part);

	for (size_t i = 0; i < STEPS; i++) {
		size_t from = i * n / STEPS, len = (i + 1) * n / STEPS - from;

		for (size_t k = 0; k < len; k++)
			part[k] = v[from + k];
		stats_sort(part, len);
		x[i] = (double)from + 1 + (double)(len - 1) / 2;
		lo[i] = part[0];
		mid[i] = part[len / 2];
		hi[i] = part[len - 1];
	}
	plot_band(p, x, lo, hi, STEPS, place);
	plot_line(p, x, mid, STEPS, place, "line");
	free(part);
}

static void
draw_runs(struct plot *p, const struct cell *c, const char *metric)
{
	const struct json *m = model_metric(c, metric);
	size_t n;
	double *v = json_numbers(json_get(m, "values"), &n);
	double median = json_get_num(m, "median", NAN);
	char text[96];

	draw_session_bounds(p, m);
	if (n > FIGURE_DOTS)
		draw_many_runs(p, v, n, c->subject->look);
	for (size_t i = 0; i < n && n <= FIGURE_DOTS; i++) {
		snprintf(text, sizeof text, "run %zu: %.6g", i + 1, v[i]);
		plot_dot(p, (double)i + 1, v[i], c->subject->look, text);
	}
	plot_horizontal(p, median, c->subject->look, "level");
	free(v);
}

static void
fit_metric(struct plot *p, const struct json *m)
{
	const struct json *v = json_first(json_get(m, "values"));
	double n = 0;

	for (; v; v = json_next(v), n++)
		axis_fit(&p->y, json_num(v, NAN));
	axis_fit(&p->x, n);
	figure_fit(p, m);
}

/* Draws the interval of the median across the full width. */
static void
draw_interval(struct plot *p, const struct json *m, size_t place)
{
	struct range ci = model_range(json_get(m, "ci95"));
	double x[2] = {p->x.lo, p->x.hi};

	plot_band(
	    p, x, (double[]){ci.lo, ci.lo}, (double[]){ci.hi, ci.hi}, 2, place);
}

/* --- few runs: a strip for each side, and the runs in their order below */

/* Draws the interval, the median and all values of a side at this height. */
static void
draw_strip(struct plot *p, const struct cell *c, const char *metric, double y)
{
	const struct json *m = model_metric(c, metric);
	struct range ci = model_range(json_get(m, "ci95"));
	double median = json_get_num(m, "median", NAN);
	size_t look = c->subject->look, n;
	double *v = json_numbers(json_get(m, "values"), &n);
	char text[96], class[16], value[NUM_BUF];

	plot_row_name(p, y, c->subject->name,
	    c->subject->contender      ? "contender"
		: c->subject->baseline ? "baseline"
				       : NULL);
	plot_band(p, (double[]){ci.lo, ci.hi}, (double[]){y - 9, y - 9},
	    (double[]){y + 9, y + 9}, 2, look);
	for (size_t i = 0; i < n; i++) /* apart from their neighbours */
		plot_dot(p, v[i], y + 4 * ((double)(i % 3) - 1), look, NULL);
	plot_whisker(p, median, y - 11, y + 11, look);
	snprintf(text, sizeof text, "median %s", num_human(value, median));
	snprintf(class, sizeof class, "level s%zu", look);
	plot_vertical(p, median, class, text);
	free(v);
}

/* Draws the runs of a side below each other, from this height on. */
static void
draw_order(struct plot *p, const struct cell *c, const char *metric, double y)
{
	const struct json *m = model_metric(c, metric);
	const struct json *session = json_first(json_get(m, "sessions"));
	double was = json_num(session, NAN);
	size_t look = c->subject->look, n;
	double *v = json_numbers(json_get(m, "values"), &n);
	double *at = mem_array(n + 1, sizeof *at);
	char text[96];

	for (size_t i = 0; i < n; i++) {
		double now = json_num(session, NAN);

		at[i] = y - STEP * (double)i;
		snprintf(text, sizeof text, "run %zu: %.6g", i + 1, v[i]);
		plot_dot(p, v[i], at[i], look, text);
		if (now != was && !isnan(now))
			plot_line(p, (double[]){p->x.lo, p->x.hi},
			    (double[]){at[i] + STEP / 2., at[i] + STEP / 2.}, 2,
			    PLOT_LOOKS, "bound");
		was = now;
		session = session ? json_next(session) : NULL;
	}
	plot_line(p, v, at, n, look, "thin");
	free(at);
	free(v);
}

/* Names the first and the last run of an order. */
static void
name_order(struct plot *p, double y, size_t runs)
{
	char text[32];

	plot_row_name(p, y, "run 1", NULL);
	snprintf(text, sizeof text, "run %zu", runs);
	if (runs > 2) /* apart from the first one */
		plot_row_name(p, y - STEP * (double)(runs - 1), text, NULL);
}

static void
draw_few_runs(struct plot *p, const char *metric, const struct cell *const *c,
    size_t n, size_t runs)
{
	enum metric_better better = metric_guess(metric).better;
	double order = -(double)(STRIP * n + STEP);
	struct str label = {0};

	figure_label(&label, metric);
	str_add(&label,
	    better == METRIC_HIGHER      ? " (\342\206\220 worse)"
		: better == METRIC_LOWER ? " (worse \342\206\222)"
					 : "");
	p->x = p->y;
	p->x.label = label.s;
	p->rows = STRIP * (double)n + STEP * (double)(runs + 1);
	plot_open(p);
	for (size_t i = 0; i < n; i++)
		draw_strip(p, c[i], metric, -STRIP * ((double)i + .5));
	name_order(p, order, runs);
	for (size_t i = 0; i < n; i++)
		draw_order(p, c[i], metric, order);
	plot_close(p);
	str_free(&label);
}

void
figure_runs(
    struct plot *p, const char *metric, const struct cell *const *c, size_t n)
{
	size_t most = 0;

	p->x = AXIS(AXIS_LINEAR, "run, in the order they were made");
	p->y.scale = AXIS_LINEAR;
	axis_fit(&p->x, 1);
	for (size_t i = 0; i < n; i++) {
		const struct json *m = model_metric(c[i], metric);
		size_t runs = json_len(json_get(m, "values"));

		fit_metric(p, m);
		most = runs > most ? runs : most;
	}
	if (most <= FEW) {
		draw_few_runs(p, metric, c, n, most);
		return;
	}
	plot_open(p);
	for (size_t i = 0; i < n; i++)
		draw_interval(
		    p, model_metric(c[i], metric), c[i]->subject->look);
	for (size_t i = 0; i < n; i++)
		draw_runs(p, c[i], metric);
	plot_close(p);
}
