#include "figure.h"
#include "json.h"
#include "mem.h"
#include "model.h"
#include "plot.h"
#include "stats.h"

#include <math.h>
#include <stdlib.h>

enum { STEPS = 200 }; /* points of a line */

struct run_series {
	double x[STEPS], y[STEPS];
	size_t n;
};

bool
figure_has_series(const struct cell *c, const char *name)
{
	return c->nseries && json_len(json_get(c->series[0], name)) > 1;
}

/* Averages adjacent intervals when there are more than STEPS. */
static void
fill_series(struct run_series *c, const struct json *series, const char *name)
{
	size_t nx, ny, n;
	double *x = json_numbers(json_get(series, "at_s"), &nx);
	double *y = json_numbers(json_get(series, name), &ny);

	n = nx < ny ? nx : ny;
	c->n = n < STEPS ? n : STEPS;
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
compute_median_series(
    struct run_series *to, const struct run_series *v, size_t n)
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

void
figure_series(
    struct plot *p, const char *name, const struct cell *const *c, size_t n)
{
	struct run_series *v = mem_array(n * MODEL_SERIES + 1, sizeof *v), mid;
	double cut;

	p->x = AXIS(AXIS_LINEAR, "time, s");
	p->y.scale = AXIS_LINEAR;
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < c[i]->nseries; k++) {
			struct run_series *one = &v[i * MODEL_SERIES + k];

			fill_series(one, c[i]->series[k], name);
			for (size_t j = 0; j < one->n; j++) {
				axis_fit(&p->x, one->x[j]);
				axis_fit(&p->y, one->y[j]);
			}
		}
	plot_open(p);
	for (size_t i = 0; i < n; i++) {
		const struct run_series *own = &v[i * MODEL_SERIES];

		cut = json_num(json_path(c[i]->rec, "steady.warmup_s"), 0);
		if (cut > 0)
			plot_vertical(p, cut, "bound", "end of the warm-up");
		for (size_t k = 0; k < c[i]->nseries; k++)
			plot_line(p, own[k].x, own[k].y, own[k].n,
			    c[i]->subject->look, "thin");
		if (c[i]->nseries > 1) {
			compute_median_series(&mid, own, c[i]->nseries);
			plot_line(p, mid.x, mid.y, mid.n, c[i]->subject->look,
			    "line");
		}
	}
	plot_close(p);
	free(v);
}
