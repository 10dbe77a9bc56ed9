#include "ciwidth.h"
#include "judge/model.h"
#include "judge/sheet.h"
#include "json.h"
#include "stopping.h"
#include "mem.h"
#include "metric.h"
#include "stats.h"
#include "str.h"
#include "vkb-load/plan/benchcase.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LEAST_RUNS = 3 }; /* of each side, for an interval of a ratio */

/* The values of one metric, by index; NAN: that run is missing. */
struct column {
	double *v;
	size_t n, cap;
};

struct ci_width {
	const struct stopping_rule *rule;
	const struct bench_case *cases;
	size_t ncases, nbuilds;
	bool paired;
	struct column *cols; /* per case, build and condition */
};

static double
relative_width(double lo, double hi, double centre)
{
	if (lo == hi)
		return 0;
	return centre != 0 ? (hi - lo) / 2 / fabs(centre) : INFINITY;
}

double
ci_width_median(const double *x, size_t n, double level)
{
	double *v = mem_array(n + 1, sizeof *v), lo, hi, width = INFINITY;
	struct stats_rule rule = {0};
	size_t m = 0;

	for (size_t i = 0; i < n; i++)
		if (isfinite(x[i]))
			v[m++] = x[i];
	stats_sort(v, m);
	if (stats_ci(&rule, v, m, 1 - level, &lo, &hi))
		width = relative_width(lo, hi, stats_median(v, m));
	free(v);
	return width;
}

/* Adds the runs that may be compared. Returns the smaller side's number, or 0
 * if a value has no ratio. */
static size_t
add_runs(
    struct sheet *to, const double *x, const double *y, size_t n, bool paired)
{
	size_t runs[2] = {0, 0};
	double least = INFINITY;

	for (size_t i = 0; i < n; i++) {
		const double v[] = {x[i], y[i]};

		if (paired && !(isfinite(v[0]) && isfinite(v[1])))
			continue;
		for (int j = 0; j < 2; j++) {
			if (!isfinite(v[j]))
				continue;
			sheet_add(to, 0, j, v[j], 0,
			    (double)(paired || !j ? i : i + n));
			least = fmin(least, v[j]);
			runs[j]++;
		}
	}
	return least > 0 ? runs[runs[1] < runs[0]] : 0;
}

double
ci_width_ratio(const double *x, const double *y, size_t n, bool paired,
    bool clock, double level)
{
	struct sheet *s = sheet_new(1, clock);
	double width = INFINITY;

	if (add_runs(s, x, y, n, paired) >= LEAST_RUNS) {
		struct model_row *row = sheet_rows(s);
		struct model_metric unused;

		/* One session: how much they differ does not matter. */
		model_judge(row, 1, &(struct model_prior){.df = 1}, &unused);
		width = sinh(model_half_width(row, false, 1 - level));
	}
	sheet_free(s);
	return width;
}

struct ci_width *
ci_width_new(const struct stopping_rule *l, const struct bench_case *cases,
    size_t ncases, size_t nbuilds, bool paired)
{
	struct ci_width *p = mem_new(sizeof *p);

	*p = (struct ci_width){l, cases, ncases, nbuilds, paired, NULL};
	p->cols = mem_array(ncases * nbuilds * l->nuntil + 1, sizeof *p->cols);
	return p;
}

void
ci_width_free(struct ci_width *p)
{
	if (!p)
		return;
	for (size_t i = 0; i < p->ncases * p->nbuilds * p->rule->nuntil; i++)
		free(p->cols[i].v);
	free(p->cols);
	free(p);
}

static struct column *
find_column(const struct ci_width *p, size_t cas, size_t build, size_t i)
{
	return &p->cols[(cas * p->nbuilds + build) * p->rule->nuntil + i];
}

static const char *
get_metric(const struct ci_width *p, size_t cas, size_t i)
{
	return stopping_metric(&p->rule->until[i], p->cases[cas].config);
}

void
ci_width_add(struct ci_width *p, size_t cas, size_t build, size_t index,
    const struct json *metrics)
{
	for (size_t i = 0; i < p->rule->nuntil; i++) {
		struct column *c = find_column(p, cas, build, i);

		while (c->n < index) {
			c->v = mem_grow(c->v, c->n, &c->cap, sizeof *c->v);
			c->v[c->n++] = NAN;
		}
		c->v[index - 1] =
		    json_get_num(metrics, get_metric(p, cas, i), NAN);
	}
}

/* Returns the width of a condition at a look: the widest of all builds. */
static double
condition_width(const struct ci_width *p, size_t cas, size_t look, size_t i,
    const bool *out)
{
	size_t runs = (size_t)p->rule->at[look];
	double level = p->rule->level[look], width = -1;
	bool clock =
	    strcmp(metric_guess(get_metric(p, cas, i)).unit, "ms") == 0;
	const struct column *base = NULL;

	for (size_t b = 0; b < p->nbuilds; b++) {
		const struct column *c = find_column(p, cas, b, i);
		size_t n = runs < c->n ? runs : c->n;

		if (out[b])
			continue;
		if (!base) {
			base = c;
			continue;
		}
		n = n < base->n ? n : base->n;
		width = fmax(width,
		    ci_width_ratio(base->v, c->v, n, p->paired, clock, level));
	}
	if (base && width < 0)
		width = ci_width_median(
		    base->v, runs < base->n ? runs : base->n, level);
	return base ? width : INFINITY;
}

bool
ci_width_reached(const struct ci_width *p, size_t cas, size_t look,
    const bool *out, struct ci_width_goal *worst)
{
	double ratio = -1;
	bool all = true;

	for (size_t i = 0; i < p->rule->nuntil; i++) {
		double wanted = p->rule->until[i].width;
		double now = condition_width(p, cas, look, i, out);

		all = all && now <= wanted;
		if (now / wanted <= ratio)
			continue;
		ratio = now / wanted;
		*worst =
		    (struct ci_width_goal){get_metric(p, cas, i), now, wanted};
	}
	return all;
}

void
ci_width_add_goal(struct str *to, const struct ci_width_goal *p)
{
	if (isfinite(p->now))
		str_printf(to, p->now < .1 ? "%s +-%.2g %%" : "%s +-%.0f %%",
		    p->metric, 100 * p->now);
	else
		str_printf(to, "%s not known yet", p->metric);
	str_printf(to, ", wanted %g %%", 100 * p->wanted);
}
