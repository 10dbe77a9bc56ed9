/*
 * The latency by rate of a case whose capacity was searched: each trial of each
 * run is a dot, the line has their medians.
 */
#include "figure.h"
#include "json.h"
#include "mem.h"
#include "model.h"
#include "plot.h"
#include "slospec.h"
#include "stats.h"
#include "str.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { POINTS = 12 }; /* of a line */

struct trial {
	double x, y; /* achieved rate, latency */
	bool held;
};

static bool
read_slo(const struct kase *k, struct slospec *slo)
{
	const char *text = json_get_str(k->config, "slo");

	return text && !slospec_parse(text, slo);
}

/* Returns the column of the trials that has the metric. */
static const char *
find_column(const struct cell *c, const char *metric)
{
	struct slospec slo;

	return read_slo(c->kase, &slo) && strcmp(metric, slo.metric->name) == 0
	    ? "limited_latency_ms"
	    : metric;
}

bool
figure_has_curve(const struct cell *c, const char *metric)
{
	return c->searches.n &&
	    json_len(json_get(json_get(c->searches.v[0], "trials"),
		find_column(c, metric))) > 1;
}

const char *
figure_curve_limited(const struct kase *k)
{
	struct slospec slo;

	return read_slo(k, &slo) ? slo.metric->name : NULL;
}

static int
compare_by_rate(const void *a, const void *b)
{
	const struct trial *x = a, *y = b;

	return (x->x > y->x) - (x->x < y->x);
}

/* Returns the *n trials of all runs by rising rate. Caller frees. */
static struct trial *
collect_trials(const struct cell *c, const char *metric, size_t *n)
{
	struct trial *v = NULL;
	size_t cap = 0, nx, ny;
	double *x, *y;

	*n = 0;
	for (size_t i = 0; i < c->searches.n; i++) {
		const struct json *t = json_get(c->searches.v[i], "trials");
		const struct json *held = json_first(json_get(t, "held"));

		x = json_numbers(json_get(t, "rps"), &nx);
		y = json_numbers(json_get(t, find_column(c, metric)), &ny);
		for (size_t k = 0; k < nx && k < ny; k++) {
			v = mem_grow(v, *n, &cap, sizeof *v);
			v[(*n)++] =
			    (struct trial){x[k], y[k], json_bool(held, false)};
			held = held ? json_next(held) : NULL;
		}
		free(x);
		free(y);
	}
	if (*n)
		qsort(v, *n, sizeof *v, compare_by_rate);
	return v;
}

/* Draws the medians of groups of trials whose rates are near each other. */
static void
draw_medians(struct plot *p, const struct trial *v, size_t n, size_t look)
{
	double x[POINTS], y[POINTS], *all = mem_array(n + 1, sizeof *all);
	size_t groups = n < POINTS ? n : POINTS;

	for (size_t g = 0; g < groups; g++) {
		size_t from = g * n / groups, end = (g + 1) * n / groups;

		for (size_t i = from; i < end; i++)
			all[i - from] = v[i].x;
		x[g] = stats_middle(all, end - from);
		for (size_t i = from; i < end; i++)
			all[i - from] = v[i].y;
		y[g] = stats_middle(all, end - from);
	}
	plot_line(p, x, y, groups, look, "line");
	free(all);
}

static void
draw_trials(
    struct plot *p, const struct cell *c, const struct trial *v, size_t n)
{
	struct str t = {0};

	draw_medians(p, v, n, c->subject->look);
	for (size_t i = 0; i < n; i++) {
		str_clear(&t);
		str_printf(&t, "%s, %.6g req/s: %.6g ms, %s", c->subject->name,
		    v[i].x, v[i].y, v[i].held ? "held" : "did not hold");
		plot_dot(p, v[i].x, v[i].y, c->subject->look, t.s);
	}
	str_free(&t);
}

void
figure_curve(
    struct plot *p, const char *metric, const struct cell *const *c, size_t n)
{
	struct trial **v = mem_array(n + 1, sizeof *v);
	size_t *len = mem_array(n + 1, sizeof *len);
	struct slospec slo;
	bool limited;

	p->x = AXIS(AXIS_LINEAR, "achieved rate, req/s");
	p->y.scale = AXIS_LOG;
	limited = n && read_slo(c[0]->kase, &slo) &&
	    strcmp(slo.metric->name, metric) == 0;
	if (limited)
		axis_fit(&p->y, slo.limit_ms);
	axis_fit(&p->x, 0);
	for (size_t i = 0; i < n; i++) {
		v[i] = collect_trials(c[i], metric, &len[i]);
		for (size_t k = 0; k < len[i]; k++) {
			axis_fit(&p->x, v[i][k].x);
			axis_fit(&p->y, v[i][k].y);
		}
	}
	plot_open(p);
	if (limited)
		plot_horizontal(p, slo.limit_ms, PLOT_LOOKS, "limit");
	for (size_t i = 0; i < n; i++) {
		draw_trials(p, c[i], v[i], len[i]);
		free(v[i]);
	}
	plot_close(p);
	free(v);
	free(len);
}
