#include "figure.h"
#include "hist.h"
#include "histcodec.h"
#include "json.h"
#include "mem.h"
#include "model.h"
#include "plot.h"
#include "str.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { POINTS = 128, PER_NINE = 16 };

bool
figure_has_hist(const struct cell *c, const char *name)
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

void
figure_latency(
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
get_quantile(const struct json *q)
{
	return json_get_num(q, "percentile", NAN) / 100;
}

static double
percent_of(double ratio)
{
	return 100 * (ratio - 1);
}

/* Draws the ratio at each percentile, with its interval. */
void
figure_shift(struct plot *p, const struct json *shift)
{
	const struct json *all = json_get(shift, "quantiles"), *q;
	char text[96];

	p->x = AXIS(AXIS_TAIL, "percentile");
	p->y = AXIS(AXIS_LINEAR, "change of latency, %");
	axis_fit(&p->y, 0);
	for (q = json_first(all); q; q = json_next(q)) {
		struct range ci = model_range(json_get(q, "ci95"));

		axis_fit(&p->x, get_quantile(q));
		axis_fit(&p->y, percent_of(json_get_num(q, "ratio", NAN)));
		axis_fit(&p->y, percent_of(ci.lo));
		axis_fit(&p->y, percent_of(ci.hi));
	}
	axis_fit(&p->x, .3);
	plot_open(p);
	plot_horizontal(p, 0, PLOT_LOOKS, "zero");
	for (q = json_first(all); q; q = json_next(q)) {
		struct range ci = model_range(json_get(q, "ci95"));
		double y = percent_of(json_get_num(q, "ratio", NAN));

		snprintf(text, sizeof text, "p%.6g: %+.1f%%",
		    100 * get_quantile(q), y);
		plot_whisker(p, get_quantile(q), percent_of(ci.lo),
		    percent_of(ci.hi), 1);
		plot_dot(p, get_quantile(q), y, 1, text);
	}
	plot_close(p);
}
