#include "figure.h"
#include "casename.h"
#include "caseset.h"
#include "forest.h"
#include "hist.h"
#include "histcodec.h"
#include "intern.h"
#include "json.h"
#include "markup.h"
#include "machines.h"
#include "mem.h"
#include "metric.h"
#include "model.h"
#include "num.h"
#include "plot.h"
#include "record.h"
#include "slospec.h"
#include "stats.h"
#include "str.h"
#include "vkb-compare/judge.h"
#include "vkb-compare/shift.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DOTS = 200 }; /* of more, only the line is drawn */

/* Widens an axis to include the median and the interval of a metric. */
static void
fit_interval(struct axis *a, const struct json *metric)
{
	struct range ci = model_range(json_get(metric, "ci95"));

	axis_fit(a, json_get_num(metric, "median", NAN));
	axis_fit(a, ci.lo);
	axis_fit(a, ci.hi);
}

/* --- The latency by rate of a case whose capacity was searched: each trial of
 * each run is a dot, the line has their medians. */

enum { CURVE_POINTS = 12 }; /* of a line */

struct trial {
	double x, y; /* achieved rate, latency */
	bool held;
};

static bool
read_slo(const struct model_case *k, struct slospec *slo)
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

/* Tells whether the searches of a cell have that latency of their trials. */
static bool
has_curve(const struct cell *c, const char *metric)
{
	return c->searches.n &&
	    json_len(json_get(json_get(c->searches.v[0], "trials"),
		find_column(c, metric))) > 1;
}

/* Returns the latency that the searches of a case limit, or NULL. */
static const char *
find_curve_limit(const struct model_case *k)
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
			*MEM_ADD(v, *n, cap) =
			    (struct trial){x[k], y[k], json_bool(held, false)};
			held = held ? json_next(held) : NULL;
		}
		free(x);
		free(y);
	}
	mem_sort(v, *n, sizeof *v, compare_by_rate);
	return v;
}

/* Draws the medians of groups of trials whose rates are near each other. */
static void
draw_medians(struct plot *p, const struct trial *v, size_t n, size_t look)
{
	double x[CURVE_POINTS], y[CURVE_POINTS],
	    *all = mem_array(n + 1, sizeof *all);
	size_t groups = n < CURVE_POINTS ? n : CURVE_POINTS;

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

static void
draw_curve(
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

enum { POINTS = 128, PER_NINE = 16 };

/* Tell whether a cell has a histogram or a series of that name. */
static bool
has_hist(const struct cell *c, const char *name)
{
	return json_get_str(json_get(c->rec, "hist"), name) != NULL;
}

/* Returns the unit of a histogram in ms, from the suffix of its name. */
static double
unit_in_ms(const char *name)
{
	return str_ends(name, "_ns") ? 1e-6 : str_ends(name, "_us") ? 1e-3 : 1;
}

struct curve {
	double q[POINTS], v[POINTS];
	size_t n;
};

/* Samples the percentiles up to where fewer than ten requests lie beyond. */
static void
fill_curve(struct curve *c, const struct cell *cell, const char *name)
{
	const char *text = json_get_str(json_get(cell->rec, "hist"), name);
	const char *why;
	struct hist *h =
	    text ? histcodec_decode(text, strlen(text), &why) : NULL;
	double count = h ? (double)hist_count(h) : 0;

	c->n = 0;
	while (c->n < POINTS) {
		double q = 1 - pow(10, -(double)c->n / PER_NINE);

		if (!(count * (1 - q) >= 10) && c->n)
			break;
		if (!(count > 0))
			break;
		c->q[c->n] = q;
		c->v[c->n++] = (double)hist_quantile(h, q) * unit_in_ms(name);
	}
	hist_free(h);
}

/* Fills the range of all runs at each percentile. Returns their number. */
static size_t
fill_band(const struct cell *c, const char *name, double *x, double *lo,
    double *hi, size_t most)
{
	const struct json *q =
	    json_first(json_get(json_get(c->rec, "quantiles"), name));
	size_t n = 0;

	for (; q && n < most; q = json_next(q)) {
		const struct json *v = json_first(q);

		if (!v || !json_next(v))
			continue;
		x[n] = strtod(json_key(q), NULL) / 100;
		lo[n] = hi[n] = json_num(v, NAN);
		for (; v; v = json_next(v)) {
			lo[n] = fmin(lo[n], json_num(v, NAN));
			hi[n] = fmax(hi[n], json_num(v, NAN));
		}
		lo[n] *= unit_in_ms(name);
		hi[n] *= unit_in_ms(name);
		n += x[n] >= 0 && x[n] < 1;
	}
	return n;
}

static void
draw_latency(
    struct plot *p, const char *name, const struct cell *const *c, size_t n)
{
	struct curve *curves = mem_array(n + 1, sizeof *curves);
	double x[16], lo[16], hi[16];

	p->x = AXIS(AXIS_TAIL, "share of the requests");
	p->y = AXIS(AXIS_LOG, "latency, ms");
	for (size_t i = 0; i < n; i++) {
		size_t k = fill_band(c[i], name, x, lo, hi, 16);

		fill_curve(&curves[i], c[i], name);
		for (size_t j = 0; j < curves[i].n; j++) {
			axis_fit(&p->x, curves[i].q[j]);
			axis_fit(&p->y, curves[i].v[j]);
		}
		while (k-- > 0) {
			axis_fit(&p->y, lo[k]);
			axis_fit(&p->y, hi[k]);
		}
	}
	plot_open(p);
	for (size_t i = 0; i < n; i++) {
		size_t k = fill_band(c[i], name, x, lo, hi, 16);

		plot_band(p, x, lo, hi, k, c[i]->subject->look);
	}
	for (size_t i = 0; i < n; i++)
		plot_line(p, curves[i].q, curves[i].v, curves[i].n,
		    c[i]->subject->look, "line");
	plot_close(p);
	free(curves);
}

static double
percent_of(double ratio)
{
	return 100 * (ratio - 1);
}

/* Draws the ratio at each percentile, with its interval. */
static void
draw_shift(struct plot *p, const struct shift *shift)
{
	char text[96];

	p->x = AXIS(AXIS_TAIL, "percentile");
	p->y = AXIS(AXIS_LINEAR, "change of latency, %");
	axis_fit(&p->y, 0);
	for (size_t i = 0; i < shift->n; i++) {
		const struct shift_line *l = &shift->v[i];

		axis_fit(&p->x, l->percentile / 100);
		axis_fit(&p->y, percent_of(l->ratio));
		axis_fit(&p->y, percent_of(l->lo));
		axis_fit(&p->y, percent_of(l->hi));
	}
	axis_fit(&p->x, .3);
	plot_open(p);
	plot_horizontal(p, 0, PLOT_LOOKS, "zero");
	for (size_t i = 0; i < shift->n; i++) {
		const struct shift_line *l = &shift->v[i];
		double x = l->percentile / 100, y = percent_of(l->ratio);

		snprintf(text, sizeof text, "p%.6g: %+.1f%%", l->percentile, y);
		plot_whisker(p, x, percent_of(l->lo), percent_of(l->hi), 1);
		plot_dot(p, x, y, 1, text);
	}
	plot_close(p);
}

/* --- Draws the values of all cases: a row for each case, with a mark for each
 * subject at its median, and a line for the interval. */

enum { ROWS = 60, WIDTH = 980, NAMES = 420, STEP = 13, GAP = 12 };
#define FAR 50 /* of the largest value over the smallest: a scale of powers */

static bool
has_metric(const struct model_case *k, const char *metric)
{
	const struct cell *c[MODEL_LOOKS];
	size_t n = figure_cells(k, c);

	for (size_t i = 0; i < n; i++)
		if (model_metric(c[i], metric))
			return true;
	return false;
}

static size_t
count_values(const struct model *m, const char *metric)
{
	size_t n = 0;

	for (size_t i = 0; i < m->ncases; i++)
		n += has_metric(m->cases[i], metric);
	return n;
}

/* Chooses the scale: from 0, or of powers where the values are far apart. */
static struct axis
fit_values(const struct model *m, const char *metric, const char *label)
{
	struct axis x = AXIS(AXIS_LOG, label);

	for (size_t i = 0; i < m->ncells; i++)
		fit_interval(&x, model_metric(&m->cells[i], metric));
	if (!(x.lo > 0 && x.hi > FAR * x.lo)) {
		x.scale = AXIS_LINEAR;
		axis_fit(&x, 0);
	}
	return x;
}

static void
draw_value(struct plot *p, double y, const struct cell *c, const char *metric)
{
	const struct json *one = model_metric(c, metric);
	struct range ci = model_range(json_get(one, "ci95"));
	double median = json_get_num(one, "median", NAN);
	size_t look = c->subject->look;
	struct str t = {0};

	str_printf(&t, "%s: %.6g", c->subject->name, median);
	if (!isnan(ci.lo) && !isnan(ci.hi)) {
		plot_line(p, (double[]){fmax(ci.lo, p->x.lo), ci.hi},
		    (double[]){y, y}, 2, look, "line");
		str_printf(&t, " [%.6g, %.6g]", ci.lo, ci.hi);
	}
	plot_dot(p, median, y, look, t.s);
	str_free(&t);
}

static void
draw_values(struct plot *p, const struct model *m, const char *metric)
{
	const struct cell *c[MODEL_LOOKS];
	const struct model_case *shown[ROWS];
	size_t n = 0, all = count_values(m, metric);
	struct str title = {0};
	double y = -(GAP + STEP) / 2.;

	for (size_t i = 0; i < m->ncases && n < ROWS; i++)
		if (has_metric(m->order[i], metric)) {
			shown[n] = m->order[i];
			p->rows +=
			    GAP + STEP * (double)figure_cells(shown[n++], c);
		}
	str_add(&title, p->label);
	if (n < all)
		str_printf(&title, ", %zu of %zu", n, all);
	p->label = title.s;
	p->x = fit_values(m, metric, p->y.label);
	p->width = WIDTH;
	p->names = NAMES;
	plot_open(p);
	for (size_t i = 0; i < n; i++, y -= GAP) {
		size_t cells = figure_cells(shown[i], c);

		plot_row_name(p, y - STEP * ((double)cells - 1) / 2,
		    shown[i]->name, NULL);
		for (size_t k = 0; k < cells; k++, y -= STEP)
			draw_value(p, y, c[k], metric);
	}
	plot_close(p);
	str_free(&title);
}

enum { SERIES_STEPS = 200 }; /* points of a line */

struct time_line {
	double x[SERIES_STEPS], y[SERIES_STEPS];
	size_t n;
};

static bool
has_series(const struct cell *c, const char *name)
{
	return c->series.n && json_len(json_get(c->series.v[0], name)) > 1;
}

/* Averages adjacent intervals when there are more than SERIES_STEPS. */
static void
fill_series(struct time_line *c, const struct json *series, const char *name)
{
	size_t nx, ny, n;
	double *x = json_numbers(json_get(series, "at_s"), &nx);
	double *y = json_numbers(json_get(series, name), &ny);

	n = nx < ny ? nx : ny;
	c->n = n < SERIES_STEPS ? n : SERIES_STEPS;
	for (size_t i = 0; i < c->n; i++) {
		size_t from = i * n / c->n, end = (i + 1) * n / c->n;

		c->x[i] = x[end - 1];
		c->y[i] = 0;
		for (size_t k = from; k < end; k++)
			c->y[i] += y[k] / (double)(end - from);
	}
	free(x);
	free(y);
}

/* Takes the median of n runs at each point that all of them have. */
static void
compute_median_line(struct time_line *to, const struct time_line *v, size_t n)
{
	double all[MODEL_SERIES];

	*to = v[0];
	for (size_t i = 1; i < n; i++)
		to->n = v[i].n < to->n ? v[i].n : to->n;
	for (size_t i = 0; i < to->n; i++) {
		for (size_t k = 0; k < n; k++)
			all[k] = v[k].y[i];
		to->y[i] = stats_middle(all, n);
	}
}

static void
draw_series(
    struct plot *p, const char *name, const struct cell *const *c, size_t n)
{
	struct time_line *v = mem_array(n * MODEL_SERIES + 1, sizeof *v), mid;
	double cut;

	p->x = AXIS(AXIS_LINEAR, "time, s");
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < c[i]->series.n; k++) {
			struct time_line *one = &v[i * MODEL_SERIES + k];

			fill_series(one, c[i]->series.v[k], name);
			for (size_t j = 0; j < one->n; j++) {
				axis_fit(&p->x, one->x[j]);
				axis_fit(&p->y, one->y[j]);
			}
		}
	plot_open(p);
	for (size_t i = 0; i < n; i++) {
		const struct time_line *own = &v[i * MODEL_SERIES];

		cut = json_num(json_path(c[i]->rec, "steady.warmup_s"), 0);
		if (cut > 0)
			plot_vertical(p, cut, "bound", "end of the warm-up");
		for (size_t k = 0; k < c[i]->series.n; k++)
			plot_line(p, own[k].x, own[k].y, own[k].n,
			    c[i]->subject->look, "thin");
		if (c[i]->series.n > 1) {
			compute_median_line(&mid, own, c[i]->series.n);
			plot_line(p, mid.x, mid.y, mid.n, c[i]->subject->look,
			    "line");
		}
	}
	plot_close(p);
	free(v);
}

/* --- the runs of a metric: a strip for each side, and the runs in their order
 * below */

enum {
	STRIP = 30,    /* pixels of a side */
	RUN_STEP = 10, /* pixels of a run */
	ORDER = 400    /* pixels of many runs */
};

/* Draws the interval, the median and the values of a side at this height; of
 * many values DOTS that represent them. */
static void
draw_strip(struct plot *p, const struct cell *c, const char *metric, double y)
{
	const struct json *m = model_metric(c, metric);
	struct range ci = model_range(json_get(m, "ci95"));
	double median = json_get_num(m, "median", NAN), at[DOTS];
	size_t look = c->subject->look, n, shown;
	double *v = json_numbers(json_get(m, "values"), &n);
	char text[96], class[16], value[NUM_BUF];

	plot_row_name(p, y, c->subject->brief,
	    c->subject->contender      ? "contender"
		: c->subject->baseline ? "baseline"
				       : NULL);
	plot_band(p, (double[]){ci.lo, ci.hi}, (double[]){y - 9, y - 9},
	    (double[]){y + 9, y + 9}, 2, look);
	stats_sort(v, n);
	shown = n < DOTS ? n : DOTS;
	for (size_t i = 0; i < shown; i++) {
		v[i] = v[(2 * i + 1) * n / (2 * shown)];
		at[i] = y + 4 * ((double)(i % 3) - 1); /* beside the next */
	}
	plot_dots(p, v, at, shown, look);
	plot_whisker(p, median, y - 11, y + 11, look);
	snprintf(text, sizeof text, "median %s", num_human(value, median));
	snprintf(class, sizeof class, "level s%zu", look);
	plot_vertical(p, median, class, text);
	free(v);
}

/* Draws many runs as the median and range of each of STEPS steps. */
static void
draw_many_runs(
    struct plot *p, double *v, const double *at, size_t n, size_t look)
{
	enum { STEPS = 50 };
	double mid[STEPS], y[STEPS], range[3 * STEPS], side[3 * STEPS];

	for (size_t i = 0; i < STEPS; i++) {
		size_t from = i * n / STEPS, end = (i + 1) * n / STEPS;

		stats_sort(v + from, end - from);
		mid[i] = v[(from + end) / 2];
		y[i] = side[3 * i] = side[3 * i + 1] = at[(from + end) / 2];
		range[3 * i] = v[from];
		range[3 * i + 1] = v[end - 1];
		range[3 * i + 2] = NAN; /* to the next one there is no line */
	}
	plot_line(p, range, side, 3 * STEPS, look, "thin");
	plot_line(p, mid, y, STEPS, look, "line");
}

/* Draws the runs of a side below each other, from this height on. */
static void
draw_order(struct plot *p, const struct cell *c, const char *metric, double y,
    double step)
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

		at[i] = y - step * (double)i;
		snprintf(text, sizeof text, "run %zu: %.6g", i + 1, v[i]);
		if (n <= DOTS)
			plot_dot(p, v[i], at[i], look, text);
		if (now != was && !isnan(now))
			plot_horizontal(
			    p, at[i] + step / 2, PLOT_LOOKS, "bound");
		was = now;
		session = session ? json_next(session) : NULL;
	}
	if (n > DOTS)
		draw_many_runs(p, v, at, n, look);
	else
		plot_line(p, v, at, n, look, "thin");
	free(at);
	free(v);
}

static void
draw_runs(
    struct plot *p, const char *metric, const struct cell *const *c, size_t n)
{
	enum metric_better better = metric_guess(metric).better;
	double order = -(double)(STRIP * n + RUN_STEP), step, last;
	struct str label = {0};
	char text[32];
	size_t runs = 1;

	for (size_t i = 0; i < n; i++) {
		const struct json *m = model_metric(c[i], metric);
		const struct json *v = json_first(json_get(m, "values"));
		size_t own = 0;

		for (; v; v = json_next(v), own++)
			axis_fit(&p->y, json_num(v, NAN));
		fit_interval(&p->y, m);
		runs = own > runs ? own : runs;
	}
	step = fmin(RUN_STEP, (double)ORDER / (double)runs);
	last = order - step * (double)(runs - 1);
	figure_label(&label, metric);
	str_add(&label,
	    better == METRIC_HIGHER      ? " (\342\206\220 worse)"
		: better == METRIC_LOWER ? " (worse \342\206\222)"
					 : "");
	p->x = p->y;
	p->x.label = label.s;
	p->rows = RUN_STEP - last;
	plot_open(p);
	for (size_t i = 0; i < n; i++)
		draw_strip(p, c[i], metric, -STRIP * ((double)i + .5));
	plot_row_name(p, order, "run 1", NULL);
	snprintf(text, sizeof text, "run %zu", runs);
	if (runs > 2) /* apart from the first one */
		plot_row_name(p, last, text, NULL);
	for (size_t i = 0; i < n; i++)
		draw_order(p, c[i], metric, order, step);
	plot_close(p);
	str_free(&label);
}

enum { HISTORY_STEPS = 400 };

#define SEVERAL "several machines together"
#define OTHERS "other machines"

/* Orders cells by time, also those of the baseline. */
static int
compare_by_time(const void *a, const void *b)
{
	const struct subject *x = (*(const struct cell *const *)a)->subject;
	const struct subject *y = (*(const struct cell *const *)b)->subject;
	int c = model_compare_times(x->time, y->time);

	return c ? c : x->place < y->place ? -1 : 1;
}

struct points {
	const struct cell **c;
	double *x, *median, *lo, *hi; /* in one block */
	const char **names;
	size_t n;
};

static void
collect_points(struct points *p, const struct model_case *k, const char *metric)
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
	mem_sort(p->c, p->n, sizeof *p->c, compare_by_time);
	for (size_t i = 0; i < p->n; i++) {
		const struct json *one = model_metric(p->c[i], metric);
		const struct json *ci = json_get(one, "ci95");

		p->x[i] = (double)i;
		p->median[i] = json_get_num(one, "median", NAN);
		p->lo[i] = json_num(json_at(ci, 0), p->median[i]);
		p->hi[i] = json_num(json_at(ci, 1), p->median[i]);
		p->names[i] = p->c[i]->subject->brief;
	}
}

/* Draws the changes of the metric, each at the point of its subject. */
static void
draw_changes(struct plot *p, const struct model *m, const struct model_case *k,
    const char *metric, const struct points *v)
{
	struct str t = {0}, size = {0}, class = {0};

	for (size_t j = 0; j < v->n; j++)
		for (size_t i = 0; i < m->nchanges; i++) {
			const struct change *c = &m->changes[i];

			if (c->kase != k ||
			    strcmp(c->text.metric, metric) != 0 ||
			    v->c[j]->subject != c->subject)
				continue;
			str_clear(&t);
			str_clear(&size);
			str_clear(&class);
			changetext_percent(&size, &c->text);
			str_printf(&t, "%s%s at %s: %s", c->slow, c->way,
			    c->subject->name, size.s);
			str_printf(&class, "change %s", c->class);
			plot_vertical(p, (double)j, class.s, t.s);
			plot_label(p, (double)j, c->class, size.s);
		}
	str_free(&t);
	str_free(&size);
	str_free(&class);
}

/* Reduces many points to HISTORY_STEPS medians and ranges. Returns their
 * number. */
static size_t
thin_points(struct points *v)
{
	size_t n = v->n < HISTORY_STEPS ? v->n : HISTORY_STEPS;

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
	const char *host = json_get_str(json_get(c->rec, "env"), "host");

	if (record_env_varied(c->rec, "host"))
		return SEVERAL;
	return host && *host ? host : MACHINES_UNKNOWN;
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
	for (size_t i = 0; i < v->n && v->n <= DOTS; i++) {
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

static void
draw_history(struct plot *p, const struct model *m, const struct model_case *k,
    const char *metric)
{
	struct points v;
	const char *legend[MODEL_LOOKS];
	size_t *look, n;

	collect_points(&v, k, metric);
	n = tell_hosts_apart(p, &v, legend, &look);
	p->xnames = v.names;
	p->nxnames = v.n;
	p->labels = k->changes > 0;
	for (size_t i = 0; i < v.n; i++) {
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

/* --- a metric by a number of cases that differ in that only */

struct scaling_point {
	double x; /* the number of the case */
	const struct model_case *kase;
};

struct scaling_group {
	char *key;                    /* such as pipeline */
	char *name;                   /* what the cases share, for people */
	struct scaling_point *points; /* in rising order of x */
	size_t n, cap;
};

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
				*MEM_ADD(first, n, cap) = v;
			} else if (first[id] != v)
				intern_id(varies, json_key(j));
		}
	}
	free(first);
	intern_free(keys);
	return varies;
}

static int
compare_points(const void *a, const void *b)
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
add_groups(struct figures *f, const char *key)
{
	const struct model *m = f->m;
	struct caseset *ids = caseset_new();
	struct json **rest = mem_array(m->ncases + 1, sizeof *rest);
	struct casename *names;
	size_t from = f->ngroups, nrest = 0, to = from;

	for (size_t i = 0; i < m->ncases; i++) {
		const struct model_case *k = m->order[i];
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
			*MEM_ADD(f->groups, f->ngroups, f->gcap) =
			    (struct scaling_group){.key = mem_str(key)};
			rest[nrest++] = config;
		} else
			json_free(config);
		g = &f->groups[from + id];
		*MEM_ADD(g->points, g->n, g->cap) =
		    (struct scaling_point){x, k};
	}
	names = casename_new((const struct json *const *)rest, nrest);
	for (size_t i = 0; i < nrest; i++) {
		struct scaling_group *g = &f->groups[from + i];

		if (g->n < 2)
			free_group(g);
		else {
			g->name = casename_of(names, rest[i]);
			qsort(
			    g->points, g->n, sizeof *g->points, compare_points);
			f->groups[to++] = *g;
		}
		json_free(rest[i]);
	}
	f->ngroups = to;
	casename_free(names);
	caseset_free(ids);
	free(rest);
}

/*
 * Do the cases differ in their rate? Then a latency is drawn by the rate that
 * was achieved, not by the one that was asked for.
 */
static bool
is_by_rate(const struct scaling_group *g)
{
	return strcmp(g->key, "rate") == 0;
}

static bool
is_by_size(const struct scaling_group *g)
{
	return strcmp(g->key, "data_size") == 0;
}

static const struct cell *
find_cell(const struct model_case *k, const struct subject *who)
{
	for (size_t i = 0; i < k->ncells; i++)
		if (k->cells[i]->subject == who)
			return k->cells[i];
	return NULL;
}

/* Returns where a cell is drawn. */
static double
get_place(const struct scaling_group *g, size_t i, const struct cell *c,
    const char *metric)
{
	if (!is_by_rate(g) || strcmp(metric, "rps") == 0)
		return g->points[i].x;
	return json_get_num(model_metric(c, "rps"), "median", g->points[i].x);
}

static void
fit_group(struct plot *p, const struct scaling_group *g, const char *metric)
{
	for (size_t i = 0; i < g->n; i++)
		for (size_t k = 0; k < g->points[i].kase->ncells; k++) {
			const struct cell *c = g->points[i].kase->cells[k];

			if (c->subject->look == MODEL_LOOKS)
				continue;
			axis_fit(&p->x, get_place(g, i, c, metric));
			fit_interval(&p->y, model_metric(c, metric));
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

static void
draw_scaling(struct plot *p, const struct model *m,
    const struct scaling_group *g, const char *metric)
{
	double least = g->points[0].x, most = g->points[g->n - 1].x;

	bool latency = is_by_rate(g) && strcmp(metric, "rps") != 0;

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

_Static_assert((int)MODEL_LOOKS == (int)PLOT_LOOKS, "all can be drawn");

enum { HISTORY = 4 }; /* a case with this many subjects gets a history plot */

static const char *const kind_names[FIGURE_KINDS] = {"comparison", "runs",
    "latency", "shift", "series", "curve", "history", "scaling", "values"};

size_t
figure_cells(const struct model_case *k, const struct cell *to[MODEL_LOOKS])
{
	size_t n = 0;

	for (size_t i = 0; i < k->ncells; i++)
		if (k->cells[i]->subject->look < MODEL_LOOKS)
			to[n++] = k->cells[i];
	return n;
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
	*MEM_ADD(f->v, f->n, f->cap) = one;
}

/* Returns true for the metrics of --metrics; without it, for gates and for
 * metrics that a comparison found changed. */
static bool
is_shown(
    const struct figures *f, const struct model_case *k, const char *metric)
{
	struct metric m = metric_guess(metric);
	bool gate;

	if (metric_is_shown(f->metrics, &m, -1, &gate))
		return true;
	for (size_t i = 0; i < k->nresults && !f->metrics; i++) {
		const struct row *r = k->results[i]->row;

		if (strcmp(r->name, metric) == 0)
			return r->gate || r->verdict < VERDICT_EQUIVALENT;
	}
	return false;
}

/* Are all runs of all subjects equal, as counts may be? */
static bool
is_constant(const struct model_case *k, const char *metric)
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
add_metric(struct figures *f, const struct model_case *k, const char *name)
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
figure_metrics(const struct model_case *k, size_t *n)
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
			*MEM_ADD(v, *n, cap) = json_key(j);
		}
	}
	intern_free(seen);
	return v;
}

/* Adds the figures of all metrics; those of metric_table come first. */
static void
add_metrics(struct figures *f, const struct model_case *k)
{
	size_t n;
	const char **v = figure_metrics(k, &n);

	model_sort_metrics(v, n);
	for (size_t i = 0; i < n; i++)
		if (is_shown(f, k, v[i]))
			add_metric(f, k, v[i]);
	free(v);
}

static bool
cell_has_data(const struct cell *c, const char *name, enum figure_kind kind)
{
	return kind == FIGURE_SERIES ? has_series(c, name)
	    : kind == FIGURE_CURVE   ? has_curve(c, name)
				     : has_hist(c, name);
}

/* Adds a figure for each histogram or series that a drawn cell has. */
static void
add_named(struct figures *f, const struct model_case *k, enum figure_kind kind)
{
	const struct cell *c[MODEL_LOOKS];
	size_t n = figure_cells(k, c);

	for (size_t i = 0; i < n; i++) {
		const struct json *j = kind == FIGURE_LATENCY
		    ? json_first(json_get(c[i]->rec, "hist"))
		    : c[i]->series.n ? json_first(c[i]->series.v[0])
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
add_curves(struct figures *f, const struct model_case *k)
{
	const char *all[] = {
	    find_curve_limit(k), "p50_latency_ms", "p99_latency_ms"};
	const struct cell *c[MODEL_LOOKS];
	size_t n = figure_cells(k, c);

	for (size_t i = 0; i < 3 && all[0]; i++)
		for (size_t at = 0;
		     at < n && (!i || strcmp(all[i], all[0]) != 0); at++)
			if (has_curve(c[at], all[i])) {
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
add_shifts(struct figures *f, const struct comparison *c)
{
	for (size_t i = 0; i < c->shifts.n; i++) {
		const struct shift *t = &c->shifts.v[i];

		add_figure(f,
		    (struct figure){.kind = FIGURE_SHIFT,
			.kase = model_case(f->m, t->pair->side[0]->config),
			.shift = t,
			.metric = t->hist,
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
	struct intern *keys = find_varying_keys(f->m);

	for (size_t i = 0; i < intern_count(keys); i++)
		add_groups(f, intern_text(keys, i));
	intern_free(keys);
	for (size_t i = 0; i < f->ngroups; i++)
		for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
			const struct scaling_group *g = &f->groups[i];
			const struct model_case *c = g->points[0].kase;

			if (!c->ncells || !model_metric(c->cells[0], all[k]) ||
			    (k == 1 && !is_by_rate(g)) ||
			    (k > 3 && !is_by_size(g)))
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
	bool gate;

	for (const struct metric *k = metric_table; k->name; k++)
		if (metric_is_shown(f->metrics, k, -1, &gate) &&
		    count_values(f->m, k->name) >= 2)
			add_figure(f,
			    (struct figure){.kind = FIGURE_VALUES,
				.metric = k->name,
				.title = format_brief(k->name,
				    " of all cases, with 95% intervals")});
}

void
figures_new(struct figures *f, const struct model *m, const char *metrics)
{
	*f = (struct figures){.m = m, .metrics = metrics};
	if (m->nresults)
		add_figure(f,
		    (struct figure){.kind = FIGURE_COMPARISON,
			.title = mem_str("all changes with their intervals")});
	for (size_t i = 0; i < m->ncases; i++) {
		add_metrics(f, m->order[i]);
		add_curves(f, m->order[i]);
		add_named(f, m->order[i], FIGURE_LATENCY);
		add_named(f, m->order[i], FIGURE_SERIES);
	}
	for (size_t i = 0; i < m->npairs; i++)
		add_shifts(f, m->pairs[i].c);
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
	for (size_t i = 0; i < f->ngroups; i++)
		free_group(&f->groups[i]);
	free(f->groups);
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
	    const struct cell *const *, size_t) = {[FIGURE_RUNS] = draw_runs,
	    [FIGURE_LATENCY] = draw_latency,
	    [FIGURE_SERIES] = draw_series,
	    [FIGURE_CURVE] = draw_curve};
	const struct model *m = all->m;
	const struct cell *c[MODEL_LOOKS];
	const char *names[MODEL_LOOKS];
	struct str label = {0};
	struct plot p = {.to = to, .label = f->title, .whole = whole};
	size_t n = 0;

	if (f->kind == FIGURE_COMPARISON) {
		forest_draw(to, m);
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
		draw_values(&p, m, f->metric);
	else if (f->kind == FIGURE_SCALING)
		draw_scaling(&p, m, &all->groups[f->group], f->metric);
	else {
		p.nlegend = 0;
		if (f->kind == FIGURE_SHIFT)
			draw_shift(&p, f->shift);
		else
			draw_history(&p, m, f->kase, f->metric);
	}
	str_free(&label);
}
