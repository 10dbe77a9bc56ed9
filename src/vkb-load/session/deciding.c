#include "deciding.h"
#include "judge/model.h"
#include "judge/plan.h"
#include "judge/sheet.h"
#include "json.h"
#include "mem.h"
#include "metric.h"
#include "stats.h"
#include "str.h"
#include "tdist.h"
#include "vkb-load/plan/benchcase.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
	LEAST_RUNS = 3, /* of each side, for an interval of a ratio */
	METRICS = 2     /* of a case, at most */
};

#define LEVEL .95  /* of the interval that is to lie within the margin */
#define SURE .99   /* probability of a change that ends a case */
#define STRICT .99 /* no interval that includes no change at it is as sure */
/* Of the margin: an interval that is too wide, though nothing changed. */
#define HOPELESS 1.5
#define LUCK \
	1.25 /* standard errors that a change may be larger than it looks */

/* The values of one metric, by index; NAN: that run is missing. */
struct column {
	double *v;
	size_t n, cap;
};

struct deciding {
	const struct bench_case *cases;
	size_t ncases, nbuilds;
	struct column *cols; /* per case, build and metric */
};

struct deciding_view
deciding_measure(const double *x, size_t n, double margin)
{
	struct deciding_view view = {DECIDING_OPEN, INFINITY, NAN, NAN};
	double *v = mem_array(n + 1, sizeof *v), lo, hi, middle;
	struct stats_rule rule = {0};
	size_t m = 0;

	for (size_t i = 0; i < n; i++)
		if (isfinite(x[i]))
			v[m++] = x[i];
	stats_sort(v, m);
	if (stats_ci(&rule, v, m, LEVEL, &lo, &hi)) {
		middle = fabs(stats_median(v, m));
		view.width = lo == hi ? 0
		    : middle > 0      ? (hi - lo) / 2 / middle
				      : INFINITY;
	}
	free(v);
	if (view.width <= margin)
		view.state = DECIDING_SAME;
	else if (isfinite(view.width)) {
		view.needed = (double)m * pow(view.width / margin, 2);
		view.least = view.needed / pow(HOPELESS, 2);
	}
	return view;
}

/* Adds the rounds that may be compared. Returns their number, or 0 if a value
 * has no ratio. */
static size_t
add_rounds(struct sheet *to, const double *x, const double *y, size_t n)
{
	double least = INFINITY;
	size_t rounds = 0;

	for (size_t i = 0; i < 2 * n; i++) {
		double v = (i < n ? x : y)[i % n];

		if (!isfinite(x[i % n]) || !isfinite(y[i % n]))
			continue;
		sheet_add(to, 0, i >= n, v, 0, (double)(i % n));
		least = fmin(least, v);
		rounds += i < n;
	}
	return least > 0 ? rounds : 0;
}

/* Returns how many runs make the interval at 'conf' as small as 'half'. */
static double
find_runs(const struct model_row *row, double n, double conf, double half)
{
	double sd = sqrt(row->error.var);

	half -= row->step; /* which remains however many there are */
	return half > 0
	    ? n * pow(tdist_quantile(.5 + conf / 2, INFINITY) * sd / half, 2)
	    : INFINITY;
}

/* Returns how many runs vkb-compare needs for the row. */
static double
plan_runs(
    const struct model_row *row, const struct model_metric *m, double margin)
{
	struct plan p = plan_describe(row, m);
	size_t runs;

	p.margin = margin;
	p.p = PLAN_P;
	runs = plan_rounds(&p);
	return runs ? (double)runs : INFINITY;
}

/* Predicts which number of runs decides a row of n runs. */
static void
predict_end(struct deciding_view *v, const struct model_row *row,
    const struct model_metric *m, double n, double margin)
{
	double change = fabs(row->change), sd = sqrt(row->error.var);
	double most = log1p(margin);

	v->least = fmin(find_runs(row, n, LEVEL, HOPELESS * most),
	    find_runs(row, n, STRICT, change + LUCK * sd));
	v->needed = fmax(n + 1, plan_runs(row, m, margin));
}

struct deciding_view
deciding_compare(
    const double *x, const double *y, size_t n, bool clock, double margin)
{
	struct deciding_view view = {DECIDING_OPEN, INFINITY, NAN, NAN};
	struct sheet *s = sheet_new(1, clock);
	double most = log1p(margin), change, half;
	struct model_metric metric;
	struct model_row *row;
	size_t runs = add_rounds(s, x, y, n);

	if (runs >= LEAST_RUNS) {
		row = sheet_rows(s);
		/* One session: how much they differ does not matter. */
		model_judge(row, 1, &(struct model_prior){.df = 1}, &metric);
		change = fabs(row->change);
		half = model_half_width(row, LEVEL);
		view.width = sinh(half);
		if (change > most && fmax(row->down, row->up) >= SURE)
			view.state = DECIDING_CHANGED;
		else if (change + half <= most)
			view.state = DECIDING_SAME;
		else
			predict_end(&view, row, &metric, (double)runs, margin);
	}
	sheet_free(s);
	return view;
}

struct deciding *
deciding_new(const struct bench_case *cases, size_t ncases, size_t nbuilds)
{
	struct deciding *d = mem_new(sizeof *d);

	*d = (struct deciding){cases, ncases, nbuilds, NULL};
	d->cols = mem_array(ncases * nbuilds * METRICS + 1, sizeof *d->cols);
	return d;
}

void
deciding_free(struct deciding *d)
{
	if (!d)
		return;
	for (size_t i = 0; i < d->ncases * d->nbuilds * METRICS; i++)
		free(d->cols[i].v);
	free(d->cols);
	free(d);
}

static struct column *
find_column(const struct deciding *d, size_t cas, size_t build, size_t i)
{
	return &d->cols[(cas * d->nbuilds + build) * METRICS + i];
}

/* Returns the i-th metric of a case, or NULL. */
static const struct metric *
find_metric(const struct deciding *d, size_t cas, size_t i)
{
	const struct json *config = d->cases[cas].config;

	if (i == 0)
		return metric_find(metric_primary(config));
	return metric_is_closed(config) ? metric_find("server_cpu_us_per_req")
					: NULL;
}

void
deciding_add(struct deciding *d, size_t cas, size_t build, size_t index,
    const struct json *metrics)
{
	const struct metric *m;

	for (size_t i = 0; i < METRICS && (m = find_metric(d, cas, i)); i++) {
		struct column *c = find_column(d, cas, build, i);

		while (c->n < index)
			*MEM_ADD(c->v, c->n, c->cap) = NAN;
		c->v[index - 1] = json_get_num(metrics, m->name, NAN);
	}
}

static bool
is_known(const struct column *c, size_t n)
{
	for (size_t i = 0; i < n && i < c->n; i++)
		if (isfinite(c->v[i]))
			return true;
	return false;
}

/* Looks at the i-th metric of one build, beside that of 'base' if they differ.
 */
static struct deciding_view
look_at_metric(const struct deciding *d, size_t cas, size_t runs, size_t base,
    size_t build, size_t i)
{
	const struct metric *m = find_metric(d, cas, i);
	const struct column *x = find_column(d, cas, base, i);
	const struct column *y = find_column(d, cas, build, i);
	size_t n = x->n < y->n ? x->n : y->n;

	n = runs < n ? runs : n;
	if (i > 0 && (!m || !is_known(x, n) || !is_known(y, n)))
		return (struct deciding_view){DECIDING_SAME, 0, 0, 0};
	if (base == build)
		return deciding_measure(x->v, n, m->margin);
	return deciding_compare(
	    x->v, y->v, n, strcmp(m->unit, "ms") == 0, m->margin);
}

/* Returns the smaller number, or by sign 1 the larger one; NAN if one is. */
static double
find_extreme(double a, double b, double sign)
{
	return isnan(a) || sign * a > sign * b ? a : b;
}

/* Decides about a build, and keeps the largest width of each open metric, and
 * what would decide them. */
static enum deciding_state
look_at_build(const struct deciding *d, size_t cas, size_t runs, size_t base,
    size_t build, double widths[METRICS], struct deciding_case *all)
{
	struct deciding_view v[METRICS];
	enum deciding_state state = DECIDING_SAME;

	for (size_t i = 0; i < METRICS; i++) {
		v[i] = look_at_metric(d, cas, runs, base, build, i);
		if (v[i].state == DECIDING_CHANGED)
			return DECIDING_CHANGED;
	}
	for (size_t i = 0; i < METRICS; i++) {
		if (v[i].state != DECIDING_OPEN)
			continue;
		state = DECIDING_OPEN;
		widths[i] = fmax(widths[i], v[i].width);
		all->least = find_extreme(all->least, v[i].least, -1);
		all->needed = find_extreme(all->needed, v[i].needed, 1);
	}
	return state;
}

/* Adds "rps +-2.9 %, margin 2 %" for each width that is set. */
static void
add_open(const struct deciding *d, size_t cas, const double widths[METRICS],
    struct str *to)
{
	const char *between = "";

	for (size_t i = 0; i < METRICS; i++) {
		const struct metric *m = find_metric(d, cas, i);

		if (!m || widths[i] < 0)
			continue;
		str_printf(to, "%s%s ", between, m->name);
		if (isfinite(widths[i]))
			str_printf(to,
			    widths[i] < .1 ? "+-%.2g %%" : "+-%.0f %%",
			    100 * widths[i]);
		else
			str_add(to, "not known yet");
		str_printf(to, ", margin %g %%", 100 * m->margin);
		between = ", ";
	}
}

struct deciding_case
deciding_look(const struct deciding *d, size_t cas, size_t runs,
    const bool *out, struct str *open)
{
	struct deciding_case all = {DECIDING_SAME, INFINITY, 0};
	enum deciding_state one;
	double widths[METRICS] = {-1, -1};
	size_t base = 0, left = 0;

	while (base < d->nbuilds && out[base])
		base++;
	for (size_t b = base; b < d->nbuilds; b++) {
		left += !out[b];
		if (out[b] || b == base)
			continue;
		one = look_at_build(d, cas, runs, base, b, widths, &all);
		if (all.state != DECIDING_OPEN && one != DECIDING_SAME)
			all.state = one;
	}
	if (left == 1)
		all.state =
		    look_at_build(d, cas, runs, base, base, widths, &all);
	if (!left)
		all.state = DECIDING_OPEN;
	add_open(d, cas, widths, open);
	return all;
}
