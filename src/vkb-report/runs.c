#include "figure.h"
#include "json.h"
#include "mem.h"
#include "model.h"
#include "plot.h"
#include "stats.h"
#include "str.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

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

void
figure_runs(
    struct plot *p, const char *metric, const struct cell *const *c, size_t n)
{
	p->x = AXIS(AXIS_LINEAR, "run, in the order they were made");
	p->y.scale = AXIS_LINEAR;
	axis_fit(&p->x, 1);
	for (size_t i = 0; i < n; i++)
		fit_metric(p, model_metric(c[i], metric));
	plot_open(p);
	for (size_t i = 0; i < n; i++)
		draw_interval(
		    p, model_metric(c[i], metric), c[i]->subject->look);
	for (size_t i = 0; i < n; i++)
		draw_runs(p, c[i], metric);
	plot_close(p);
}
