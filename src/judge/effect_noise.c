#include "effect_own.h"
#include "mem.h"
#include "serial.h"
#include "stats.h"

#include <math.h>
#include <stdlib.h>

/* The noise of runs of which nothing is known; its df marks it. */
#define UNKNOWN .1
#define UNKNOWN_DF .01

/* The most that the other cases say of the noise of one, beside its own runs.
 */
#define MOST_SHRUNK 1.5

/* Compares places: side, session, time. */
static int
compare_residuals(const void *a, const void *b)
{
	const struct residual *x = a, *y = b;

	return x->side != y->side ? x->side - y->side
				  : model_compare_runs(&x->run, &y->run);
}

static void
add_residual(
    struct effect *f, size_t row, int side, const struct model_run *r, double e)
{
	f->residuals[f->nresiduals++] =
	    (struct residual){row, side, {e, r->session, r->time}};
}

/* Sets how much the means of sessions differ, as the variance of a round;
 * 'from' is the first residual of the row. */
static void
measure_between(struct effect *f, size_t row, size_t from)
{
	struct moderate *b = &f->between[row];
	double squares = 0, sessions = 0;

	for (size_t i = from, end; i < f->nresiduals; i = end) {
		double sum = 0;

		for (end = i; end < f->nresiduals &&
		     f->residuals[end].run.session ==
			 f->residuals[i].run.session;
		     end++)
			sum += f->residuals[end].run.y;
		squares += sum * sum / (double)(end - i);
		sessions++;
	}
	*b = sessions > 1
	    ? (struct moderate){squares / (sessions - 1), sessions - 1}
	    : (struct moderate){NAN, 0};
}

/* Compares the runs of common rounds, if there are enough: at least half of
 * those of the smaller side. */
static void
pair_runs(struct effect *f, size_t row)
{
	struct model_row *r = &f->rows[row];
	size_t i = 0, k = 0, from = f->nresiduals, n;
	size_t least = r->n[0] < r->n[1] ? r->n[0] : r->n[1];
	double mean = 0;

	while (i < r->n[0] && k < r->n[1]) {
		const struct model_run *x = &r->runs[0][i], *y = &r->runs[1][k];
		int c = model_compare_runs(x, y);

		if (c == 0) {
			add_residual(f, row, 2, x, y->y - x->y);
			mean += y->y - x->y;
		}
		i += c <= 0;
		k += c >= 0;
	}
	n = f->nresiduals - from;
	r->rounds = n;
	r->pairs = n >= MODEL_PAIRS && 2 * n >= least ? n : 0;
	if (!r->pairs) {
		f->nresiduals = from;
		return;
	}
	r->change = mean / (double)n;
	for (i = from; i < f->nresiduals; i++)
		f->residuals[i].run.y -= r->change;
	measure_between(f, row, from);
}

size_t
effect_end_session(const struct model_row *r, int side, size_t i)
{
	size_t end = i;

	while (end < r->n[side] &&
	    r->runs[side][end].session == r->runs[side][i].session)
		end++;
	return end;
}

/* Equal values have exactly their mean, so that rounding is not taken for
 * noise.
 */
double
effect_find_mean(const struct model_run *v, size_t n)
{
	double sum = 0;

	for (size_t i = 1; i < n; i++)
		sum += v[i].y - v[0].y;
	return v[0].y + sum / (double)n;
}

/* Adds the residuals of an unpaired row to its sessions' means. */
static void
add_samples(struct effect *f, size_t row, struct serial *sum, double *series)
{
	const struct model_row *r = &f->rows[row];

	for (int j = 0; j < 2; j++)
		for (size_t i = 0, end; i < r->n[j]; i = end) {
			double mean;

			end = effect_end_session(r, j, i);
			mean = effect_find_mean(r->runs[j] + i, end - i);
			for (size_t k = i; k < end; k++) {
				series[k - i] = r->runs[j][k].y - mean;
				add_residual(
				    f, row, j, &r->runs[j][k], series[k - i]);
			}
			if (r->runs[j][i].time < MODEL_UNORDERED)
				serial_add(sum, series, end - i);
		}
}

static void
collect_residuals(struct effect *f)
{
	size_t most = 0;
	struct serial sum = {0};
	double *series;

	for (size_t i = 0; i < f->n; i++)
		most += f->rows[i].n[0] + f->rows[i].n[1];
	f->residuals = mem_array(most + 1, sizeof *f->residuals);
	f->common = mem_array(most + 1, sizeof *f->common);
	series = mem_array(most + 1, sizeof *series);
	for (size_t i = 0; i < f->n; i++) {
		pair_runs(f, i);
		if (!f->rows[i].pairs)
			add_samples(f, i, &sum, series);
	}
	f->metric->rho = serial_estimate(&sum, 1);
	free(series);
	if (f->nresiduals)
		qsort(f->residuals, f->nresiduals, sizeof *f->residuals,
		    compare_residuals);
}

/*
 * Sets the weights by which the residuals of a row tell what all rows share:
 * the inverse of their mean square, or of the median one if that is larger. So
 * a noisy row does not make the others noisy, and no row counts for all.
 */
static void
weigh_rows(struct effect *f)
{
	double *v = mem_array(f->n + 1, sizeof *v), usual;
	double(*count)[3] = mem_array(f->n + 1, sizeof *count);

	for (size_t i = 0; i < f->nresiduals; i++) {
		const struct residual *r = &f->residuals[i];

		f->weights[r->row][r->side] += r->run.y * r->run.y;
		count[r->row][r->side]++;
	}
	for (int side = 0; side < 3; side++) {
		size_t n = 0;

		for (size_t i = 0; i < f->n; i++)
			if (count[i][side] > 0)
				v[n++] = f->weights[i][side] /= count[i][side];
		stats_sort(v, n);
		usual = fmax(EFFECT_LEAST, stats_median(v, n));
		for (size_t i = 0; i < f->n; i++)
			f->weights[i][side] =
			    1 / fmax(usual, f->weights[i][side]);
	}
	free(v);
	free(count);
}

/* Takes the mean of the residuals at one time, v[0] to v[n - 1], from them, and
 * adds their squares to their rows. */
static void
split_time(struct effect *f, const struct residual *v, size_t n)
{
	bool separate = n >= MODEL_SEPARATE;
	double mean = 0, all = 0;

	for (size_t i = 0; separate && i < n; i++) {
		double weight = f->weights[v[i].row][v[i].side];

		mean += v[i].run.y * weight;
		all += weight;
	}
	mean /= separate ? all : 1;
	for (size_t i = 0; i < n; i++) {
		struct moderate *s = &f->noise[v[i].row][v[i].side];
		double weight = f->weights[v[i].row][v[i].side];
		double e = v[i].run.y - mean;

		s->var += e * e * (separate ? all / (all - weight) : 1);
		s->df++;
	}
	if (separate)
		f->common[f->ncommon++] =
		    (struct common){v->side, v->run.session, mean};
}

/* Splits the residuals into the machine's and those of each row, whose
 * variances are set and shrunk later. */
static void
split_residuals(struct effect *f)
{
	for (size_t i = 0, end; i < f->nresiduals; i = end) {
		const struct residual *v = &f->residuals[i];

		for (end = i + 1; end < f->nresiduals &&
		     compare_residuals(v, &f->residuals[end]) == 0;)
			end++;
		split_time(f, v, end - i);
	}
}

/* Sets the variances of the rows, and fits what each side has in common. */
static void
measure_variances(struct effect *f)
{
	struct moderate *v = mem_array(f->n + 1, sizeof *v);

	for (int side = 0; side < 3; side++) {
		for (size_t i = 0; i < f->n; i++) {
			struct model_row *r = &f->rows[i];
			struct moderate *own = &f->noise[i][side];

			own->df -= side == 2
			    ? 1
			    : effect_count_sessions(f, i, side, NULL);
			*own = own->df > 0
			    ? (struct moderate){own->var / own->df, own->df}
			    : (struct moderate){NAN, 0};
			v[i] = *own;
			if (side < 2 || r->pairs)
				r->noise[side % 2] = *own;
		}
		f->priors[side] = moderate_prior(v, f->n);
	}
	f->of_between = moderate_prior(f->between, f->n);
	free(v);
}

/* Returns the variance of a run of one side, or of a round. */
struct moderate
effect_find_noise(const struct effect *f, size_t row, int side)
{
	int of = f->rows[row].pairs ? 2 : side;
	struct moderate prior = f->priors[of], own = f->noise[row][of], all;

	if (own.df > 0)
		prior.df = fmin(prior.df, MOST_SHRUNK * own.df);
	all = moderate_shrink(own, &prior);
	return all.df > 0 ? all
			  : (struct moderate){UNKNOWN * UNKNOWN, UNKNOWN_DF};
}

struct moderate
effect_find_round_noise(const struct effect *f, size_t row)
{
	const struct model_prior *p = f->prior;
	struct moderate noise = effect_find_noise(f, row, 0), stated, b;
	double sessions = f->between[row].df + 1;

	if (!(f->between[row].df > 0))
		return noise;
	b = moderate_shrink(f->between[row], &f->of_between);
	if (b.var <= noise.var)
		return noise;
	/* The variance of few sessions is very uncertain, and so it is drawn to
	 * that of both sides of what is stated. */
	stated = (struct moderate){noise.var +
		2 * p->case_sd * p->case_sd * (double)f->rows[row].pairs /
		    sessions,
	    p->df};
	b = (struct moderate){
	    (b.var * b.df + stated.var * stated.df) / (b.df + stated.df),
	    b.df + stated.df};
	return b.var > noise.var ? b : noise;
}

void
effect_measure_noise(struct effect *f)
{
	collect_residuals(f);
	weigh_rows(f);
	split_residuals(f);
	measure_variances(f);
}
