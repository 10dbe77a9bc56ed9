#include "effect.h"
#include "effect_own.h"
#include "mem.h"
#include "serial.h"

#include <math.h>
#include <stdlib.h>

double
effect_count_sessions(
    const struct effect *f, size_t row, int side, double *mean)
{
	double n = 0, sum = 0;

	for (size_t i = 0; i < f->ncells[row]; i++)
		if (f->cells[row][i].n[side] > 0) {
			sum += f->cells[row][i].mean[side];
			n++;
		}
	if (mean)
		*mean = sum / n;
	return n;
}

/* Lists the sessions of a row. */
static void
list_cells(struct effect *f, size_t row)
{
	struct model_row *r = &f->rows[row];
	struct cell *v = mem_array(r->n[0] + r->n[1] + 1, sizeof *v);
	size_t at[2] = {0, 0}, n = 0;
	bool share = false;

	while (at[0] < r->n[0] || at[1] < r->n[1]) {
		struct cell *c = &v[n++];

		c->session = UINT32_MAX;
		for (int j = 0; j < 2; j++)
			if (at[j] < r->n[j] &&
			    r->runs[j][at[j]].session < c->session)
				c->session = r->runs[j][at[j]].session;
		for (int j = 0; j < 2; j++) {
			size_t end;

			if (at[j] == r->n[j] ||
			    r->runs[j][at[j]].session != c->session)
				continue;
			end = effect_end_session(r, j, at[j]);
			c->n[j] = (double)(end - at[j]);
			c->mean[j] =
			    effect_find_mean(r->runs[j] + at[j], end - at[j]);
			at[j] = end;
		}
		share = share || (c->n[0] > 0 && c->n[1] > 0);
		if (f->sessions <= c->session)
			f->sessions = (size_t)c->session + 1;
	}
	f->cells[row] = v;
	f->ncells[row] = n;
	for (int j = 0; j < 2; j++)
		r->sessions_of[j] =
		    share ? 0 : (size_t)effect_count_sessions(f, row, j, NULL);
}

/* Adds the means of the sessions of a row around their mean to what sessions do
 * to all cases; 'rest': what that leaves of them to the variance of T. */
static void
spread_row(
    struct effect *f, size_t row, int side, struct common *all, bool rest)
{
	double mean, sessions = effect_count_sessions(f, row, side, &mean);
	bool separate = f->metric->separate;
	double by = separate ? (double)f->n / (double)(f->n - 1) : 1;

	if (sessions < 2 || f->rows[row].pairs)
		return;
	for (size_t i = 0; i < f->ncells[row]; i++) {
		const struct cell *c = &f->cells[row][i];
		struct common *of = &all[c->session];
		double d = c->mean[side] - mean;

		if (!(c->n[side] > 0))
			continue;
		if (!rest) {
			of->e += d;
			of->side++;
			continue;
		}
		d -= separate ? of->e / of->side : 0;
		f->cases[row].var += by * d * d;
	}
	if (rest)
		f->cases[row].df += sessions - 1;
}

/* Adds the squares of what the sessions of a side do to all cases. */
static void
spread_side(struct effect *f, int side)
{
	struct common *all = mem_array(f->sessions + 1, sizeof *all);

	for (int rest = 0; rest < 2; rest++)
		for (size_t i = 0; i < f->n; i++)
			spread_row(f, i, side, all, rest);
	for (size_t k = 0; k < f->sessions; k++) {
		double d = all[k].side ? all[k].e / all[k].side : 0;

		f->count[side] += all[k].side > 0;
		f->session.var += d * d;
	}
	if (f->count[side] > 1)
		f->session.df += (double)f->count[side] - 1;
	free(all);
}

/* Takes the noise of the runs from the variance of session means. */
static void
settle_case(struct effect *f, size_t row)
{
	struct moderate *t = &f->cases[row];
	double runs = 0, sides = 0;

	if (!(t->df > 0)) {
		*t = (struct moderate){NAN, 0};
		return;
	}
	for (int j = 0; j < 2; j++) {
		double sessions = effect_count_sessions(f, row, j, NULL);

		if (sessions < 2)
			continue;
		runs += effect_find_noise(f, row, j).var * sessions /
		    (double)f->rows[row].n[j];
		sides++;
	}
	t->var /= t->df;
	f->runs[row] = runs / sides;
}

/* Measures how much sessions differ, where there are some of one side. */
static void
measure_sessions(struct effect *f)
{
	const struct model_prior *p = f->prior;
	struct moderate stated = {p->session_sd * p->session_sd, p->df};

	for (int j = 0; j < 2; j++)
		spread_side(f, j);
	f->metric->known =
	    f->session.df >= MODEL_SESSIONS - 1 && !(p->others > 0);
	if (!f->metric->known && f->metric->separate)
		/* Few sessions confirm what was stated, or widen it. */
		f->session = (struct moderate){
		    (stated.var * stated.df + f->session.var) /
			(stated.df + f->session.df),
		    stated.df + f->session.df};
	else if (!f->metric->known)
		f->session = stated;
	else if (f->metric->separate)
		f->session.var /= f->session.df;
	else
		f->session.var = 0; /* it is in that of the cases */
	f->metric->session_sd = sqrt(f->session.var);
	if (!f->metric->known)
		return;
	for (size_t i = 0; i < f->n; i++)
		settle_case(f, i);
	f->of_cases = moderate_prior(f->cases, f->n);
}

/* The inverse of the covariance of both means of a session. */
static void
invert_session(const struct effect *f, const struct cell *c, double between,
    const struct moderate noise[2], double p[3])
{
	double x[2], det;

	for (int j = 0; j < 2; j++)
		x[j] = between + EFFECT_LEAST +
		    (c->n[j] > 0 ? noise[j].var *
				serial_inflation(f->metric->rho, c->n[j]) /
				c->n[j]
				 : 0);
	p[1] = 0;
	p[0] = c->n[0] > 0 ? 1 / x[0] : 0;
	p[2] = c->n[1] > 0 ? 1 / x[1] : 0;
	if (c->n[0] > 0 && c->n[1] > 0) {
		det = x[0] * x[1] - between * between;
		p[0] = x[1] / det;
		p[1] = -between / det;
		p[2] = x[0] / det;
	}
}

/*
 * Sets the change of an unpaired row by generalized least squares with this
 * variance between sessions; 'by' to the factor of the variance of a run of
 * each side in that of the change.
 */
static void
combine_sessions(const struct effect *f, size_t row, double between,
    const struct moderate noise[2], double by[2])
{
	struct model_row *r = &f->rows[row];
	size_t n = f->ncells[row];
	const struct cell *v = f->cells[row];
	double a[3] = {0}, b[2] = {0}, p[3], det, u[2];

	for (size_t i = 0; i < n; i++) {
		invert_session(f, &v[i], between, noise, p);
		for (int k = 0; k < 3; k++)
			a[k] += p[k];
		b[0] += p[0] * v[i].mean[0] + p[1] * v[i].mean[1];
		b[1] += p[1] * v[i].mean[0] + p[2] * v[i].mean[1];
	}
	det = a[0] * a[2] - a[1] * a[1];
	u[0] = -(a[2] + a[1]) / det;
	u[1] = (a[0] + a[1]) / det;
	r->change = u[0] * b[0] + u[1] * b[1];
	r->shared = by[0] = by[1] = 0;
	for (size_t i = 0; i < n; i++) {
		double w[2];

		invert_session(f, &v[i], between, noise, p);
		w[0] = u[0] * p[0] + u[1] * p[1];
		w[1] = u[0] * p[1] + u[1] * p[2];
		r->shared += (w[0] + w[1]) * (w[0] + w[1]);
		for (int j = 0; j < 2; j++)
			if (v[i].n[j] > 0)
				by[j] += w[j] * w[j] *
				    serial_inflation(
					f->metric->rho, v[i].n[j]) /
				    v[i].n[j];
	}
	if (r->shared < 1e-9)
		r->shared = 0;
}

/* Sets the variance of T of a row. Returns it if it is measured, else 0. */
static struct moderate
find_case_noise(const struct effect *f, size_t row, double *var)
{
	double stated = f->prior->case_sd * f->prior->case_sd;
	struct moderate t = {0, INFINITY};

	*var = stated;
	if (!f->metric->known)
		return t;
	t = moderate_shrink(f->cases[row], &f->of_cases);
	*var = fmax(0, t.var - f->runs[row]);
	t.var = *var;
	return t;
}

static void
estimate_unpaired(struct effect *f, size_t row)
{
	struct model_row *r = &f->rows[row];
	struct moderate noise[2], t;
	double by[2], var, rho = f->metric->rho;

	t = find_case_noise(f, row, &var);
	for (int j = 0; j < 2; j++)
		noise[j] = effect_find_noise(f, row, j);
	combine_sessions(f, row, fmax(1e-12, f->session.var + var), noise, by);
	for (int j = 0; j < 2; j++) {
		noise[j].var *= by[j];
		/* Autocorrelated runs say less of their variance. */
		noise[j].df = fmin(
		    noise[j].df, fmax(1, noise[j].df * (1 - rho) / (1 + rho)));
	}
	r->own = moderate_add(noise[0], noise[1]);
	r->sessions = f->metric->known ? 0 : r->shared * var;
	if (f->metric->known) {
		t.var *= r->shared;
		r->own = moderate_add(r->own, t);
	}
	f->most_shared = fmax(f->most_shared, r->shared);
}

static void
estimate_row(struct effect *f, size_t row)
{
	struct model_row *r = &f->rows[row];

	if (r->pairs) {
		r->own = effect_find_round_noise(f, row);
		r->own.var /= (double)r->pairs;
		r->sessions = r->shared = 0;
	} else {
		estimate_unpaired(f, row);
	}
	r->own.var = fmax(r->own.var, EFFECT_LEAST);
	if (!r->pairs && r->apart > 0)
		r->own = moderate_add(
		    r->own, (struct moderate){r->apart, f->prior->df});
}

void
effect_estimate(struct model_row *rows, size_t n, const struct model_prior *p,
    struct model_metric *m)
{
	struct effect f = {.rows = rows, .n = n, .prior = p, .metric = m};

	*m = (struct model_metric){.separate = n >= MODEL_SEPARATE};
	f.weights = mem_array(n + 1, sizeof *f.weights);
	f.noise = mem_array(n + 1, sizeof *f.noise);
	f.cases = mem_array(n + 1, sizeof *f.cases);
	f.runs = mem_array(n + 1, sizeof *f.runs);
	f.between = mem_array(n + 1, sizeof *f.between);
	f.cells = mem_array(n + 1, sizeof *f.cells);
	f.ncells = mem_array(n + 1, sizeof *f.ncells);
	for (size_t i = 0; i < n; i++)
		list_cells(&f, i);
	effect_measure_noise(&f);
	measure_sessions(&f);
	for (size_t i = 0; i < n; i++)
		estimate_row(&f, i);
	effect_set_laws(&f);
	for (size_t i = 0; i < n; i++)
		free(f.cells[i]);
	free(f.cells);
	free(f.ncells);
	free(f.weights);
	free(f.noise);
	free(f.cases);
	free(f.runs);
	free(f.between);
	free(f.residuals);
	free(f.common);
}
