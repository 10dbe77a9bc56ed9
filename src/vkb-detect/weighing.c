#include "weighing.h"
#include "changepoint.h"
#include "finding.h"
#include "judge/model.h"
#include "judge/density.h"
#include "judge/sheet.h"
#include "trend.h"

#include <math.h>
#include <string.h>

#define LEAST 1e-14 /* variance of points that are equal */

size_t
weighing_collect(const double *v, size_t from, size_t to,
    const struct changepoint *c, size_t n, double *x, size_t *at)
{
	size_t k = 0;

	for (size_t i = from; i < to; i++) {
		while (n && (!c->spike || c->to <= i)) {
			c++;
			n--;
		}
		if (!isfinite(v[i]) || (n && c->at <= i))
			continue;
		x[k] = v[i];
		if (at)
			at[k] = i;
		k++;
	}
	return k;
}

/* How much neighbours resemble each other, and how many times noisier the new
 * level is than the old one, with the prior weight of each. */
static const double rhos[] = {0, .3, .6, .85};
static const double rho_weights[] = {.4, .3, .2, .1};
static const double noises[] = {1, 2, 4, 8, .5, .25, .125};
static const double noise_weights[] = {.9, .03, .02, .01, .02, .01, .01};
enum {
	RHOS = sizeof rhos / sizeof *rhos,
	NOISES = sizeof noises / sizeof *noises,
	LAWS = RHOS * NOISES
};

/* A step as one law of the noise has it. */
struct noise_law {
	double weight; /* logarithm, until all are known */
	double change;
	struct moderate error;
};

/*
 * Fits both means by generalized least squares to points whose noise is an
 * autoregression of the first order and 'noise' times larger on the new level.
 * The weight is the likelihood, over all means and amounts of noise.
 */
static struct noise_law
fit_law(const struct model_row *r, double rho, double noise)
{
	double a = 0, b = 0, c = 0, ay = 0, by = 0, yy = 0, det, squares;
	double n = (double)(r->n[0] + r->n[1]), df = fmax(1, n - 2);
	double last[3] = {0}, first;
	struct noise_law l;

	for (size_t i = 0; i < r->n[0] + r->n[1]; i++) {
		bool new = i >= r->n[0];
		double scale = new ? 1 / noise : 1;
		double y = new ? r->runs[1][i - r->n[0]].y : r->runs[0][i].y;
		double off = y - r->runs[0][0].y, v[3];
		double now[3] = {scale, new ? scale : 0, scale *off};

		first = i ? 1 : sqrt(1 - rho * rho);
		for (int k = 0; k < 3; k++) {
			v[k] = first * (now[k] - (i ? rho * last[k] : 0));
			last[k] = now[k];
		}
		a += v[0] * v[0];
		b += v[0] * v[1];
		c += v[1] * v[1];
		ay += v[0] * v[2];
		by += v[1] * v[2];
		yy += v[2] * v[2];
	}
	det = a * c - b * b;
	l.change = (a * by - b * ay) / det;
	squares = yy - (c * ay * ay - 2 * b * ay * by + a * by * by) / det;
	squares = fmax(squares, n * LEAST);
	l.error = (struct moderate){squares / df * a / det, df};
	l.weight = .5 * log(1 - rho * rho) - (double)r->n[1] * log(noise) -
	    .5 * log(det) - df / 2 * log(squares);
	return l;
}

/* Fits all laws, with weights that add up to 1. */
static void
fit_laws(const struct model_row *r, struct noise_law v[LAWS])
{
	double best = -INFINITY, sum = 0;

	for (int i = 0; i < LAWS; i++) {
		int rho = i / NOISES, noise = i % NOISES;

		v[i] = fit_law(r, rhos[rho], noises[noise]);
		v[i].weight += log(rho_weights[rho] * noise_weights[noise]);
		best = fmax(best, v[i].weight);
	}
	for (int i = 0; i < LAWS; i++)
		sum += exp(v[i].weight - best);
	for (int i = 0; i < LAWS; i++)
		v[i].weight = exp(v[i].weight - best) / sum;
}

/* Sets the change and its error to the means of the laws. Returns the evidence.
 */
static double
sum_laws(const struct noise_law v[LAWS], struct model_row *r)
{
	double d[2] = {0}, square = 0;

	r->change = 0;
	r->error = (struct moderate){0, v[0].error.df};
	for (int i = 0; i < LAWS; i++) {
		struct own own =
		    density_judge(v[i].change, v[i].error, r->step);

		d[0] += v[i].weight * own.unchanged;
		d[1] += v[i].weight * own.changed;
		r->change += v[i].weight * v[i].change;
		square += v[i].weight * v[i].change * v[i].change;
		r->error.var += v[i].weight * v[i].error.var;
	}
	r->error.var += fmax(0, square - r->change * r->change);
	r->rest = r->change;
	r->own = r->error;
	return log(fmax(d[1], 1e-300) / fmax(d[0], 1e-300));
}

void
weighing_levels(
    struct finding *f, const double *x, size_t m, const double *y, size_t n)
{
	struct sheet *s = sheet_new(1, strcmp(f->metric.unit, "ms") == 0);
	struct model_row *r;
	struct noise_law laws[LAWS];

	for (size_t i = 0; i < m; i++)
		sheet_add(s, 0, 0, x[i], 0, (double)i);
	for (size_t i = 0; i < n; i++)
		sheet_add(s, 0, 1, y[i], 0, (double)(m + i));
	r = sheet_rows(s);
	fit_laws(r, laws);
	f->evidence = sum_laws(laws, r);
	f->facts = verdict_start(x, m, y, n);
	verdict_take(&f->facts, r);
	sheet_free(s);
}

void
weighing_slope(struct finding *f, const struct trend *t)
{
	double by = fmax(fabs(t->begin), fabs(t->end));
	double change = t->end - t->begin;
	struct moderate error = {fmax(LEAST, t->se / by * t->se / by), t->df};
	struct own own = density_judge(change / by, error, 0);

	f->evidence =
	    log(fmax(own.changed, 1e-300) / fmax(own.unchanged, 1e-300));
}
