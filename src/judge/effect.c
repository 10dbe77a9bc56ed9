#include "effect.h"
#include "mem.h"
#include "model.h"
#include "serial.h"
#include "stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The noise of runs of which nothing is known; its df marks it. */
#define UNKNOWN .1
#define UNKNOWN_DF .01

/* The least variance: values are equal, as those of a coarse clock. */
#define LEAST 1e-14

/* The most that the other cases say of the noise of one, beside its own runs.
 */
#define MOST_SHRUNK 1.5

/* The autocorrelations of the machine that are tried, and their prior. */
static const double rhos[] = {0, .3, .6, .85, .95};
static const double rho_weights[] = {.35, .2, .2, .15, .1};
enum { RHOS = sizeof rhos / sizeof *rhos };

/* Sessions may differ more or less than was stated. */
static const double scales[] = {.5, 1, 1.4, 2};
static const double scale_weights[] = {.2, .5, .25, .05};
enum { SCALES = sizeof scales / sizeof *scales };

/* What a run is off the mean of its session, or a round off that of its row. */
struct residual {
	size_t row;
	int side; /* 2: of a round */
	uint32_t session;
	double time, e;
};

/* The runs of one session of a row. */
struct cell {
	uint32_t session;
	double n[2], mean[2];
};

/* The weighted mean of the residuals at one time; a side of a session is a
 * series. */
struct common {
	int side;
	uint32_t session;
	double e;
};

struct effect {
	struct model_row *rows;
	size_t n;
	const struct model_prior *prior;
	struct model_metric *metric;
	struct residual *residuals;
	size_t nresiduals;
	struct common *common;
	size_t ncommon;
	double (*weights)[2];        /* of each row in what all share */
	struct moderate (*noise)[2]; /* of each row, without the machine's */
	struct moderate priors[3];   /* by side; of rounds */
	size_t sessions;             /* one more than their largest number */
	size_t count[2];             /* sessions of each side, unpaired rows */
	struct moderate session;     /* variance of S */
	struct moderate *cases, of_cases; /* of T for each row; their prior */
	double *runs; /* how much of that is the noise of the runs */
	double most_shared;
};

/* Compares places: side, session, time. */
static int
compare_residuals(const void *a, const void *b)
{
	const struct residual *x = a, *y = b;

	if (x->side != y->side)
		return x->side - y->side;
	if (x->session != y->session)
		return x->session < y->session ? -1 : 1;
	return (x->time > y->time) - (x->time < y->time);
}

static int
compare_rounds(const struct model_run *x, const struct model_run *y)
{
	if (x->session != y->session)
		return x->session < y->session ? -1 : 1;
	return (x->time > y->time) - (x->time < y->time);
}

static void
add_residual(
    struct effect *f, size_t row, int side, const struct model_run *r, double e)
{
	f->residuals[f->nresiduals++] =
	    (struct residual){row, side, r->session, r->time, e};
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
		int c = compare_rounds(x, y);

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
		f->residuals[i].e -= r->change;
}

/* Returns the end of the session that begins at run i of a side. */
static size_t
end_session(const struct model_row *r, int side, size_t i)
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
static double
find_mean(const struct model_run *v, size_t n)
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

			end = end_session(r, j, i);
			mean = find_mean(r->runs[j] + i, end - i);
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

	for (size_t i = 0; i < f->n; i++) {
		size_t n = f->rows[i].n[0] + f->rows[i].n[1];

		most += n;
		for (int j = 0; j < 2; j++)
			if (f->rows[i].n[j] &&
			    f->rows[i].runs[j][f->rows[i].n[j] - 1].session >=
				f->sessions)
				f->sessions = 1 +
				    f->rows[i]
					.runs[j][f->rows[i].n[j] - 1]
					.session;
	}
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
	double *v = mem_array(f->n + 1, sizeof *v), *at;
	double(*count)[2] = mem_array(f->n + 1, sizeof *count);

	for (size_t i = 0; i < f->nresiduals; i++) {
		const struct residual *r = &f->residuals[i];

		f->weights[r->row][r->side & 1] += r->e * r->e;
		count[r->row][r->side & 1]++;
	}
	for (int which = 0; which < 3; which++) {
		double usual;
		size_t n = 0;

		for (size_t i = 0; i < f->n; i++)
			if ((f->rows[i].pairs > 0) == (which == 2) &&
			    count[i][which & 1] > 0) {
				at = &f->weights[i][which & 1];
				*at /= count[i][which & 1];
				v[n++] = *at;
			}
		stats_sort(v, n);
		usual = n ? fmax(LEAST, stats_median(v, n)) : LEAST;
		for (size_t i = 0; i < f->n; i++)
			if ((f->rows[i].pairs > 0) == (which == 2)) {
				at = &f->weights[i][which & 1];
				*at = 1 / fmax(usual, *at);
			}
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
		double weight = f->weights[v[i].row][v[i].side & 1];

		mean += v[i].e * weight;
		all += weight;
	}
	mean /= separate ? all : 1;
	for (size_t i = 0; i < n; i++) {
		struct moderate *s = &f->noise[v[i].row][v[i].side & 1];
		double weight = f->weights[v[i].row][v[i].side & 1];
		double e = v[i].e - mean;

		s->var += e * e * (separate ? all / (all - weight) : 1);
		s->df++;
	}
	if (separate)
		f->common[f->ncommon++] =
		    (struct common){v->side, v->session, mean};
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

static size_t
count_sessions(const struct model_row *r, int side)
{
	size_t n = 0;

	for (size_t i = 0; i < r->n[side]; i = end_session(r, side, i))
		n++;
	return n;
}

/* Sets the variances of the rows, and fits what each side has in common. */
static void
measure_noise(struct effect *f)
{
	struct moderate *v = mem_array(f->n + 1, sizeof *v);

	for (size_t i = 0; i < f->n; i++)
		for (int j = 0; j < 2; j++) {
			struct model_row *r = &f->rows[i];
			struct moderate *own = &f->noise[i][j];
			double means =
			    r->pairs ? 1. : (double)count_sessions(r, j);

			own->df -= means;
			*own = own->df > 0
			    ? (struct moderate){own->var / own->df, own->df}
			    : (struct moderate){NAN, 0};
			r->noise[j] = *own;
		}
	for (int which = 0; which < 3; which++) {
		size_t n = 0;

		for (size_t i = 0; i < f->n; i++)
			if ((f->rows[i].pairs > 0) == (which == 2))
				v[n++] = f->noise[i][which & 1];
		f->priors[which] = moderate_prior(v, n);
	}
	free(v);
}

/* Returns the variance of a run of one side, or of a round. */
static struct moderate
shrink_noise(const struct effect *f, size_t row, int side)
{
	struct moderate prior = f->priors[f->rows[row].pairs ? 2 : side];
	struct moderate own = f->noise[row][side], all;

	if (own.df > 0)
		prior.df = fmin(prior.df, MOST_SHRUNK * own.df);
	all = moderate_shrink(own, &prior);
	return all.df > 0 ? all
			  : (struct moderate){UNKNOWN * UNKNOWN, UNKNOWN_DF};
}

/* What the sessions of one side add up to. */
struct spread {
	double *sum, *n; /* of each session, over the rows */
};

/* Adds the means of the sessions of a row around their mean, or what the
 * machine's part leaves of them, to the variance of T of that row. */
static void
spread_row(struct effect *f, size_t row, int side, struct spread *s, bool rest)
{
	const struct model_row *r = &f->rows[row];
	double mean = 0, sessions = (double)count_sessions(r, side);
	double by = f->metric->separate ? (double)f->n / (double)(f->n - 1) : 1;

	if (sessions < 2)
		return;
	for (size_t i = 0, end; i < r->n[side]; i = end) {
		end = end_session(r, side, i);
		mean += find_mean(r->runs[side] + i, end - i) / sessions;
	}
	for (size_t i = 0, end; i < r->n[side]; i = end) {
		uint32_t k = r->runs[side][i].session;
		double d;

		end = end_session(r, side, i);
		d = find_mean(r->runs[side] + i, end - i) - mean;
		if (!rest) {
			s->sum[k] += d;
			s->n[k]++;
			continue;
		}
		d -= f->metric->separate ? s->sum[k] / s->n[k] : 0;
		f->cases[row].var += by * d * d;
	}
	if (rest)
		f->cases[row].df += sessions - 1;
}

/* Adds the squares of what the sessions of a side do to all cases. */
static void
add_session_squares(struct effect *f, const struct spread *s, int side)
{
	for (size_t k = 0; k < f->sessions; k++) {
		double d = s->n[k] > 0 ? s->sum[k] / s->n[k] : 0;

		f->count[side] += s->n[k] > 0;
		f->session.var += d * d;
	}
	if (f->count[side] > 1)
		f->session.df += (double)f->count[side] - 1;
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
		double sessions = (double)count_sessions(&f->rows[row], j);

		if (sessions < 2)
			continue;
		runs += shrink_noise(f, row, j).var * sessions /
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
	struct spread s = {mem_array(f->sessions + 1, sizeof *s.sum),
	    mem_array(f->sessions + 1, sizeof *s.n)};

	for (int j = 0; j < 2; j++) {
		for (int rest = 0; rest < 2; rest++) {
			for (size_t i = 0; i < f->n; i++)
				if (!f->rows[i].pairs)
					spread_row(f, i, j, &s, rest);
			if (!rest)
				add_session_squares(f, &s, j);
		}
		memset(s.sum, 0, f->sessions * sizeof *s.sum);
		memset(s.n, 0, f->sessions * sizeof *s.n);
	}
	free(s.sum);
	free(s.n);
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

/* Lists the sessions of a row. Caller frees. */
static struct cell *
list_cells(const struct model_row *r, size_t *n)
{
	struct cell *v = mem_array(r->n[0] + r->n[1] + 1, sizeof *v);
	size_t at[2] = {0, 0};

	*n = 0;
	while (at[0] < r->n[0] || at[1] < r->n[1]) {
		struct cell *c = &v[(*n)++];

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
			end = end_session(r, j, at[j]);
			c->n[j] = (double)(end - at[j]);
			c->mean[j] = find_mean(r->runs[j] + at[j], end - at[j]);
			at[j] = end;
		}
	}
	return v;
}

/* The inverse of the covariance of both means of a session. */
static void
invert_session(const struct effect *f, const struct cell *c, double between,
    const struct moderate noise[2], double p[3])
{
	double x[2], det;

	for (int j = 0; j < 2; j++)
		x[j] = between + LEAST +
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
combine_sessions(const struct effect *f, struct model_row *r, double between,
    const struct moderate noise[2], double by[2])
{
	size_t n;
	struct cell *v = list_cells(r, &n);
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
	free(v);
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
		noise[j] = shrink_noise(f, row, j);
	combine_sessions(f, r, fmax(1e-12, f->session.var + var), noise, by);
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
		r->own = shrink_noise(f, row, 0);
		r->own.var /= (double)r->pairs;
		r->sessions = r->shared = 0;
	} else {
		estimate_unpaired(f, row);
	}
	r->own.var = fmax(r->own.var, LEAST);
	if (!r->pairs && r->apart > 0)
		r->own = moderate_add(
		    r->own, (struct moderate){r->apart, f->prior->df});
}

static void
add_law(
    struct model_metric *m, double weight, double var, struct moderate noise)
{
	noise.var = fmax(noise.var, LEAST);
	m->laws[m->nlaws++] =
	    (struct model_law){weight, {fmax(var, LEAST), noise.df}, noise};
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
	*var = fmax(LEAST, squares / df) / a;
	return logs - df / 2 * log(fmax(LEAST, squares / df));
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
static void
set_laws(struct effect *f)
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
	collect_residuals(&f);
	weigh_rows(&f);
	split_residuals(&f);
	measure_noise(&f);
	measure_sessions(&f);
	for (size_t i = 0; i < n; i++)
		estimate_row(&f, i);
	set_laws(&f);
	free(f.weights);
	free(f.noise);
	free(f.cases);
	free(f.runs);
	free(f.residuals);
	free(f.common);
}
