#include "effect_own.h"
#include "serial.h"

#include <math.h>

/* The autocorrelations of the machine that are tried, and their prior. */
static const double rhos[] = {0, .3, .6, .85, .95};
static const double rho_weights[] = {.35, .2, .2, .15, .1};
enum { RHOS = sizeof rhos / sizeof *rhos };

/* Sessions may differ more or less than was stated. */
static const double scales[] = {.5, 1, 1.4, 2};
static const double scale_weights[] = {.2, .5, .25, .05};
enum { SCALES = sizeof scales / sizeof *scales };

/* Returns the end of the series that begins at i. */
static size_t
end_series(const struct effect *f, size_t i)
{
	size_t end = i;

	while (end < f->ncommon && f->common[end].side == f->common[i].side &&
	    f->common[end].session == f->common[i].session)
		end++;
	return end;
}

static void
add_law(
    struct model_metric *m, double weight, double var, struct moderate noise)
{
	noise.var = fmax(noise.var, EFFECT_LEAST);
	m->laws[m->nlaws++] = (struct model_law){
	    weight, {fmax(var, EFFECT_LEAST), noise.df}, noise};
}

/* Adds a law, or if sessions are not known, one for each scale of them. */
static void
add_laws(struct effect *f, double weight, struct moderate noise)
{
	struct model_metric *m = f->metric;
	double sessions = f->most_shared * f->session.var;

	m->sessions =
	    (struct moderate){sessions + f->prior->others, f->session.df};
	if (m->known && sessions > 0) {
		/* The noise of the runs is in that of the sessions. */
		add_law(
		    m, weight, sessions, (struct moderate){0, f->session.df});
		return;
	}
	if (!(m->sessions.var > 0)) {
		add_law(m, weight, noise.var, noise);
		return;
	}
	noise.df = INFINITY;
	for (int i = 0; i < SCALES; i++)
		add_law(m, weight * scale_weights[i],
		    noise.var + m->sessions.var * scales[i] * scales[i], noise);
}

/*
 * Sets the logarithm of the likelihood of the autocorrelation rho, by the
 * whitened series around their means by generalized least squares, and the
 * variance of one value.
 */
static double
try_rho(const struct effect *f, double rho, double df, double *var)
{
	double squares = 0, logs = 0, a = 1 - rho * rho;

	for (size_t i = 0, end; i < f->ncommon; i = end) {
		const struct common *x = &f->common[i];
		double weight = a, mean = a * x->e;

		end = end_series(f, i);
		for (size_t k = i + 1; k < end; k++) {
			weight += (1 - rho) * (1 - rho);
			mean += (1 - rho) *
			    (f->common[k].e - rho * f->common[k - 1].e);
		}
		mean /= weight;
		squares += a * (x->e - mean) * (x->e - mean);
		for (size_t k = i + 1; k < end; k++) {
			double d = f->common[k].e - mean -
			    rho * (f->common[k - 1].e - mean);

			squares += d * d;
		}
		logs += .5 * log(a) - .5 * log(weight);
	}
	*var = fmax(EFFECT_LEAST, squares / df) / a;
	return logs - df / 2 * log(fmax(EFFECT_LEAST, squares / df));
}

/* Returns the factor of the variance of one value in that of the difference of
 * both sides' means, with the same number of values in each session. */
static double
find_mean_factor(const struct effect *f, double rho)
{
	double n[2] = {0}, sum = 0;

	for (size_t i = 0; i < f->ncommon; i++)
		if (f->common[i].side < 2)
			n[f->common[i].side]++;
	for (int j = 0; j < 2; j++) {
		double sessions = fmax(1, (double)f->count[j]);

		if (n[j] > 0)
			sum += serial_inflation(rho, n[j] / sessions) / n[j];
	}
	return sum;
}

/* The laws of the machine where the sides are two samples. */
static void
set_unpaired_laws(struct effect *f)
{
	double log_like[RHOS], var[RHOS], best = -INFINITY, sum = 0;
	double df = (double)f->ncommon;

	for (size_t i = 0; i < f->ncommon; i = end_series(f, i))
		df--;
	if (!(df > 0)) {
		add_laws(f, 1, (struct moderate){0, INFINITY});
		return;
	}
	for (int i = 0; i < RHOS; i++) {
		log_like[i] =
		    try_rho(f, rhos[i], df, &var[i]) + log(rho_weights[i]);
		best = fmax(best, log_like[i]);
	}
	for (int i = 0; i < RHOS; i++)
		sum += exp(log_like[i] - best);
	for (int i = 0; i < RHOS; i++)
		add_laws(f, exp(log_like[i] - best) / sum,
		    (struct moderate){
			var[i] * find_mean_factor(f, rhos[i]), df});
}

/* The law of the machine where the rows are paired. */
static void
set_paired_law(struct effect *f)
{
	double squares = 0, n = 0;

	for (size_t i = 0; i < f->ncommon; i++)
		if (f->common[i].side == 2) {
			squares += f->common[i].e * f->common[i].e;
			n++;
		}
	if (n > 1)
		add_law(f->metric, 1, squares / (n - 1) / n,
		    (struct moderate){squares / (n - 1) / n, n - 1});
	else
		add_law(f->metric, 1, 0, (struct moderate){0, INFINITY});
}

/* Rows of both kinds in one metric have the laws of those that are more. */
void
effect_set_laws(struct effect *f)
{
	size_t paired = 0;

	f->metric->nlaws = 0;
	for (size_t i = 0; i < f->n; i++)
		paired += f->rows[i].pairs > 0;
	if (2 * paired >= f->n)
		set_paired_law(f);
	else
		set_unpaired_laws(f);
}
