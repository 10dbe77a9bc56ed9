#include "model.h"
#include "mem.h"
#include "odds.h"
#include "serial.h"
#include "stats.h"
#include "tdist.h"

#include <math.h>
#include <stdlib.h>

/*
 * The change of each case of a metric, and how uncertain it is.
 *
 * Runs of common rounds are compared one by one if there are enough of them.
 * Else the means of the sessions are combined by generalized least squares:
 * a session that both sides share cancels as far as it is shared, and one that
 * they do not share leaves its variance. Variances of a case and side are
 * shrunk towards those of the same side (moderate.h).
 *
 * Noise that all cases share, as seen where three and more were measured at
 * one time, belongs to the machine: it is taken from the residuals and becomes
 * part of the machine's change. Its autocorrelation is not known, so the laws
 * of that change are a mixture over several values, weighted by the likelihood
 * of what was seen.
 *
 * From MODEL_SESSIONS sessions of one side on S and T are measured. With fewer
 * they are as stated, or from half to twice that.
 */

/* The least variance: values are equal, as those of a coarse clock. */
#define LEAST 1e-14

/* The noise of runs of which nothing is known; its df marks it. */
#define UNKNOWN .1
#define UNKNOWN_DF .01

/* The most that the other cases say of the noise of one, beside its own runs.
 */
#define MOST_SHRUNK 1.5

/* The autocorrelations of the machine that are tried, and their prior. */
static const double rhos[] = {0, .3, .6, .85, .95};
static const double rho_weights[] = {.25, .2, .2, .2, .15};
enum { RHOS = sizeof rhos / sizeof *rhos };

/* Sessions may differ more or less than was stated. */
static const double scales[] = {.5, 1, 1.4, 2};
static const double scale_weights[] = {.2, .5, .25, .05};
enum { SCALES = sizeof scales / sizeof *scales };

/* The variances of a row: of a run of each side, of a round, of a round by the
 * means of sessions, and of T. The first SIDES are those of residuals. */
enum { ROUND = 2, SIDES, BETWEEN = SIDES, CASE, KINDS };

const struct model_row model_none;

int
model_compare_runs(const void *a, const void *b)
{
	const struct model_run *x = a, *y = b;

	if (x->session != y->session)
		return x->session < y->session ? -1 : 1;
	return (x->time > y->time) - (x->time < y->time);
}

/* The runs of one session of a row. */
struct cell {
	uint32_t session;
	double n[2], mean[2];
};

/* The sessions of a row: all, and those of a side with the mean of theirs. */
struct sessions {
	struct cell *v;
	size_t n;
	double of[2], mean[2];
};

/* What a run is off the mean of its session, or a round off that of its row. */
struct residual {
	double e, time;
	uint32_t session, row;
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
	struct sessions *sessions;  /* of each row */
	struct residual *residuals; /* of one side, or of rounds */
	size_t nresiduals;
	struct common *common;
	size_t ncommon, commoncap;
	double *weights; /* of each row, in what all residuals share */
	struct moderate *own[KINDS]; /* of each row, without the machine's */
	struct moderate priors[KINDS];
	size_t numbers;          /* one more than the largest of a session */
	size_t count[2];         /* sessions of each side, unpaired rows */
	struct moderate session; /* variance of S */
	double most_shared;
};

/* ---- sessions */

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

/* Adds the runs from v on that are of the session of the cell. Returns their
 * number. */
static size_t
add_cell(struct cell *c, int side, const struct model_run *v, size_t n)
{
	size_t k = 0;

	while (k < n && v[k].session == c->session)
		k++;
	c->n[side] = (double)k;
	c->mean[side] = k ? find_mean(v, k) : 0;
	return k;
}

static void
list_sessions(struct effect *f, size_t row)
{
	struct model_row *r = &f->rows[row];
	struct sessions *s = &f->sessions[row];
	size_t at[2] = {0, 0};
	bool share = false;

	s->v = mem_array(r->n[0] + r->n[1] + 1, sizeof *s->v);
	while (at[0] < r->n[0] || at[1] < r->n[1]) {
		struct cell *c = &s->v[s->n++];

		c->session = UINT32_MAX;
		for (int j = 0; j < 2; j++)
			if (at[j] < r->n[j] &&
			    r->runs[j][at[j]].session < c->session)
				c->session = r->runs[j][at[j]].session;
		for (int j = 0; j < 2; j++) {
			at[j] +=
			    add_cell(c, j, r->runs[j] + at[j], r->n[j] - at[j]);
			s->mean[j] += c->mean[j];
			s->of[j] += c->n[j] > 0;
		}
		share = share || (c->n[0] > 0 && c->n[1] > 0);
		if (f->numbers <= c->session)
			f->numbers = (size_t)c->session + 1;
	}
	s->v = mem_resize(s->v, s->n, sizeof *s->v);
	for (int j = 0; j < 2; j++) {
		s->mean[j] /= s->of[j];
		r->sessions_of[j] = share ? 0 : (size_t)s->of[j];
	}
}

/* ---- noise */

/* Makes sums of squares variances, and finds their prior. */
static void
settle_variances(struct effect *f, int kind)
{
	for (size_t i = 0; i < f->n; i++) {
		struct moderate *own = &f->own[kind][i];

		if (own->df > 0)
			own->var /= own->df;
		else
			*own = (struct moderate){NAN, 0};
	}
	f->priors[kind] = moderate_prior(f->own[kind], f->n);
}

/* Compares places: session, time. */
static int
compare_residuals(const void *a, const void *b)
{
	const struct residual *x = a, *y = b;

	if (x->session != y->session)
		return x->session < y->session ? -1 : 1;
	return (x->time > y->time) - (x->time < y->time);
}

static void
add_residual(struct effect *f, size_t row, const struct model_run *r, double e)
{
	f->residuals[f->nresiduals++] =
	    (struct residual){e, r->time, r->session, (uint32_t)row};
}

/* Goes on to the next round that both sides of a row have, from run at[0] of
 * the one and at[1] of the other on. Returns false if there is none. */
static bool
find_round(const struct model_row *r, size_t at[2])
{
	while (at[0] < r->n[0] && at[1] < r->n[1]) {
		int c =
		    model_compare_runs(&r->runs[0][at[0]], &r->runs[1][at[1]]);

		if (c == 0)
			return true;
		at[0] += c < 0;
		at[1] += c > 0;
	}
	return false;
}

/* Compares the runs of common rounds, if there are enough: at least half of
 * those of the smaller side. */
static void
pair_runs(struct model_row *r)
{
	size_t least = r->n[0] < r->n[1] ? r->n[0] : r->n[1];
	double sum = 0;

	r->rounds = 0;
	for (size_t at[2] = {0, 0}; find_round(r, at); at[0]++, at[1]++) {
		sum += r->runs[1][at[1]].y - r->runs[0][at[0]].y;
		r->rounds++;
	}
	r->pairs =
	    r->rounds >= MODEL_PAIRS && 2 * r->rounds >= least ? r->rounds : 0;
	if (r->pairs)
		r->change = sum / (double)r->pairs;
}

/* Adds how much the means of sessions differ, as the variance of a round, from
 * the residuals of a row. */
static void
add_between(struct moderate *to, const struct residual *v, size_t n)
{
	to->df = -1;
	for (size_t i = 0, end; i < n; i = end) {
		double sum = 0;

		for (end = i; end < n && v[end].session == v[i].session; end++)
			sum += v[end].e;
		to->var += sum * sum / (double)(end - i);
		to->df++;
	}
}

/* Adds the residuals of a paired row. */
static void
add_rounds(struct effect *f, size_t row)
{
	const struct model_row *r = &f->rows[row];
	size_t from = f->nresiduals;

	for (size_t at[2] = {0, 0}; find_round(r, at); at[0]++, at[1]++) {
		const struct model_run *x = &r->runs[0][at[0]];

		add_residual(f, row, x, r->runs[1][at[1]].y - x->y - r->change);
	}
	add_between(&f->own[BETWEEN][row], &f->residuals[from], r->pairs);
}

/* Adds the residuals of a side of an unpaired row to its sessions' means. */
static void
add_samples(struct effect *f, size_t row, int side)
{
	const struct sessions *s = &f->sessions[row];
	const struct model_run *v = f->rows[row].runs[side];

	for (size_t i = 0; i < s->n; i++)
		for (size_t n = (size_t)s->v[i].n[side]; n; n--, v++)
			add_residual(f, row, v, v->y - s->v[i].mean[side]);
}

/* Sets the residuals of a side of all unpaired rows, or of the rounds of all
 * others, sorted by their places. */
static void
collect_residuals(struct effect *f, int side)
{
	size_t n = 0;

	for (size_t i = 0; i < f->n; i++) {
		const struct model_row *r = &f->rows[i];

		n += side == ROUND ? r->pairs : r->pairs ? 0 : r->n[side];
	}
	f->residuals = mem_resize(f->residuals, n, sizeof *f->residuals);
	f->nresiduals = 0;
	for (size_t i = 0; i < f->n; i++)
		if (!f->rows[i].pairs && side != ROUND)
			add_samples(f, i, side);
		else if (f->rows[i].pairs && side == ROUND)
			add_rounds(f, i);
	mem_sort(f->residuals, n, sizeof *f->residuals, compare_residuals);
}

/* Adds how the runs of a row follow each other in their sessions. 'series' has
 * room for them. */
static void
add_series(struct serial *sum, const struct model_row *r,
    const struct sessions *s, double *series)
{
	for (int j = 0; j < 2; j++) {
		const struct model_run *v = r->runs[j];

		for (size_t i = 0; i < s->n; i++) {
			size_t n = (size_t)s->v[i].n[j];

			for (size_t k = 0; k < n; k++)
				series[k] = v[k].y - s->v[i].mean[j];
			if (n && v->time < MODEL_UNORDERED)
				serial_add(sum, series, n);
			v += n;
		}
	}
}

/* Finds the rows that are paired, and the autocorrelation of the others. */
static void
find_pairs(struct effect *f)
{
	struct serial sum = {0};
	double *series = NULL;

	for (size_t i = 0; i < f->n; i++) {
		struct model_row *r = &f->rows[i];

		pair_runs(r);
		if (r->pairs)
			continue;
		series = mem_resize(series, r->n[0] + r->n[1], sizeof *series);
		add_series(&sum, r, &f->sessions[i], series);
	}
	f->metric->rho = serial_estimate(&sum);
	free(series);
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
	double *count = mem_array(f->n + 1, sizeof *count);
	size_t n = 0;

	for (size_t i = 0; i < f->n; i++)
		f->weights[i] = 0;
	for (size_t i = 0; i < f->nresiduals; i++) {
		const struct residual *r = &f->residuals[i];

		f->weights[r->row] += r->e * r->e;
		count[r->row]++;
	}
	for (size_t i = 0; i < f->n; i++)
		if (count[i] > 0)
			v[n++] = f->weights[i] /= count[i];
	stats_sort(v, n);
	usual = fmax(LEAST, stats_median(v, n));
	for (size_t i = 0; i < f->n; i++)
		f->weights[i] = 1 / fmax(usual, f->weights[i]);
	free(v);
	free(count);
}

/* Takes the mean of the residuals at one time, v[0] to v[n - 1], from them, and
 * adds their squares to their rows. */
static void
split_time(struct effect *f, int side, const struct residual *v, size_t n)
{
	bool separate = n >= MODEL_SEPARATE;
	double mean = 0, all = 0;

	for (size_t i = 0; separate && i < n; i++) {
		double weight = f->weights[v[i].row];

		mean += v[i].e * weight;
		all += weight;
	}
	mean /= separate ? all : 1;
	for (size_t i = 0; i < n; i++) {
		struct moderate *s = &f->own[side][v[i].row];
		double weight = f->weights[v[i].row];
		double e = v[i].e - mean;

		s->var += e * e * (separate ? all / (all - weight) : 1);
		s->df++;
	}
	if (separate)
		*MEM_ADD(f->common, f->ncommon, f->commoncap) =
		    (struct common){side, v->session, mean};
}

/* Splits the residuals of a side, or of rounds, into the machine's and those of
 * each row. */
static void
split_side(struct effect *f, int side)
{
	collect_residuals(f, side);
	weigh_rows(f);
	for (size_t i = 0, end; i < f->nresiduals; i = end) {
		const struct residual *v = &f->residuals[i];

		for (end = i + 1; end < f->nresiduals &&
		     compare_residuals(v, &f->residuals[end]) == 0;)
			end++;
		split_time(f, side, v, end - i);
	}
}

static void
measure_noise(struct effect *f)
{
	for (int side = 0; side < SIDES; side++)
		split_side(f, side);
	for (size_t i = 0; i < f->n; i++) {
		for (int j = 0; j < 2; j++)
			f->own[j][i].df -= f->sessions[i].of[j];
		f->own[ROUND][i].df--;
	}
	for (int kind = 0; kind <= BETWEEN; kind++)
		settle_variances(f, kind);
	for (size_t i = 0; i < f->n; i++) {
		struct model_row *r = &f->rows[i];

		r->noise[0] = f->own[r->pairs ? ROUND : 0][i];
		r->noise[1] = f->own[1][i];
	}
}

static struct moderate
shrink_variance(const struct effect *f, size_t row, int kind)
{
	return moderate_shrink(f->own[kind][row], &f->priors[kind]);
}

/* Returns the variance of a run of one side, or of a round, shrunk towards that
 * of the other rows; df below 1: nothing is known of it. */
static struct moderate
find_noise(const struct effect *f, size_t row, int side)
{
	struct moderate prior = f->priors[side], own = f->own[side][row], all;

	if (own.df > 0)
		prior.df = fmin(prior.df, MOST_SHRUNK * own.df);
	all = moderate_shrink(own, &prior);
	return all.df > 0 ? all
			  : (struct moderate){UNKNOWN * UNKNOWN, UNKNOWN_DF};
}

/* Returns that of a round; if the means of several sessions differ more than
 * rounds do, that of these means, drawn to what is assumed of sessions. */
static struct moderate
find_round_noise(const struct effect *f, size_t row)
{
	const struct model_prior *p = f->prior;
	struct moderate noise = find_noise(f, row, ROUND), stated, b;
	double sessions = f->own[BETWEEN][row].df + 1;

	if (!(sessions > 1))
		return noise;
	b = shrink_variance(f, row, BETWEEN);
	if (b.var <= noise.var)
		return noise;
	/* The variance of few sessions is very uncertain, and so it is drawn to
	 * that of both sides of what is stated. */
	stated = (struct moderate){noise.var +
		2 * p->case_sd * p->case_sd * (double)f->rows[row].pairs /
		    sessions,
	    p->df};
	b = moderate_pool(b, stated);
	return b.var > noise.var ? b : noise;
}

/* ---- how much sessions differ */

/* What a session does to all cases: a sum, and the number of cases. */
struct shift {
	double sum, n;
};

/* Adds the means of the sessions of a row around their mean to what sessions do
 * to all cases, or if 'rest', what that leaves of them to the variance of T. */
static void
spread_row(struct effect *f, size_t row, int side, struct shift *all, bool rest)
{
	const struct sessions *s = &f->sessions[row];
	bool separate = f->metric->separate;
	double by = separate ? (double)f->n / (double)(f->n - 1) : 1;

	if (s->of[side] < 2 || f->rows[row].pairs)
		return;
	for (size_t i = 0; i < s->n; i++) {
		struct shift *of = &all[s->v[i].session];
		double d = s->v[i].mean[side] - s->mean[side];

		if (!(s->v[i].n[side] > 0))
			continue;
		if (rest) {
			d -= separate ? of->sum / of->n : 0;
			f->own[CASE][row].var += by * d * d;
		} else {
			of->sum += d;
			of->n++;
		}
	}
	if (rest)
		f->own[CASE][row].df += s->of[side] - 1;
}

/* Adds the squares of what the sessions of a side do to all cases. */
static void
spread_side(struct effect *f, int side)
{
	struct shift *all = mem_array(f->numbers + 1, sizeof *all);

	for (int rest = 0; rest < 2; rest++)
		for (size_t i = 0; i < f->n; i++)
			spread_row(f, i, side, all, rest);
	for (size_t k = 0; k < f->numbers; k++) {
		double d = all[k].n > 0 ? all[k].sum / all[k].n : 0;

		f->count[side] += all[k].n > 0;
		f->session.var += d * d;
	}
	if (f->count[side] > 1)
		f->session.df += (double)f->count[side] - 1;
	free(all);
}

/* Measures how much sessions differ, where there are some of one side. */
static void
measure_sessions(struct effect *f)
{
	const struct model_prior *p = f->prior;
	struct moderate stated = {p->session_sd * p->session_sd, p->df};

	for (int j = 0; j < 2; j++)
		spread_side(f, j);
	settle_variances(f, CASE);
	if (f->session.df > 0)
		f->session.var /= f->session.df;
	f->metric->known =
	    f->session.df >= MODEL_SESSIONS - 1 && !(p->others > 0);
	if (f->metric->known)
		/* Of few cases it is in that of each. */
		f->session.var *= f->metric->separate;
	else
		/* Few sessions confirm what was stated, or widen it. */
		f->session = f->metric->separate
		    ? moderate_pool(f->session, stated)
		    : stated;
	f->metric->session_sd = sqrt(f->session.var);
}

/* Returns the variance of T of a row: as measured without the noise of the
 * runs; or where neither this row nor others tell it, as stated. */
static struct moderate
find_case_noise(const struct effect *f, size_t row)
{
	const struct sessions *s = &f->sessions[row];
	struct moderate t = shrink_variance(f, row, CASE);
	double runs = 0, sides = 0;

	if (!f->metric->known || !(t.df > 0))
		return (struct moderate){
		    f->prior->case_sd * f->prior->case_sd, INFINITY};
	for (int j = 0; j < 2; j++)
		if (s->of[j] >= 2) {
			runs += find_noise(f, row, j).var * s->of[j] /
			    (double)f->rows[row].n[j];
			sides++;
		}
	t.var = fmax(0, t.var - (sides > 0 ? runs / sides : 0));
	return t;
}

/* ---- changes */

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
combine_sessions(const struct effect *f, size_t row, double between,
    const struct moderate noise[2], double by[2])
{
	struct model_row *r = &f->rows[row];
	size_t n = f->sessions[row].n;
	const struct cell *v = f->sessions[row].v;
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

static void
estimate_unpaired(struct effect *f, size_t row)
{
	struct model_row *r = &f->rows[row];
	struct moderate noise[2], t = find_case_noise(f, row);
	double by[2], rho = f->metric->rho;

	for (int j = 0; j < 2; j++)
		noise[j] = find_noise(f, row, j);
	combine_sessions(
	    f, row, fmax(1e-12, f->session.var + t.var), noise, by);
	for (int j = 0; j < 2; j++) {
		noise[j].var *= by[j];
		/* Autocorrelated runs say less of their variance. */
		noise[j].df = fmin(
		    noise[j].df, fmax(1, noise[j].df * (1 - rho) / (1 + rho)));
	}
	r->own = moderate_add(noise[0], noise[1]);
	t.var *= r->shared;
	r->sessions = f->metric->known ? 0 : t.var;
	if (f->metric->known)
		r->own = moderate_add(r->own, t);
	f->most_shared = fmax(f->most_shared, r->shared);
}

static void
estimate_row(struct effect *f, size_t row)
{
	struct model_row *r = &f->rows[row];

	if (r->pairs) {
		r->own = find_round_noise(f, row);
		r->own.var /= (double)r->pairs;
		r->sessions = r->shared = 0;
	} else {
		estimate_unpaired(f, row);
	}
	r->own.var = fmax(r->own.var, fmax(r->least_var, LEAST));
	if (!r->pairs && r->apart > 0)
		r->own = moderate_add(
		    r->own, (struct moderate){r->apart, f->prior->df});
}

/* ---- the machine */
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
		if (f->common[i].side < ROUND)
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
		if (f->common[i].side == ROUND) {
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

	for (size_t i = 0; i < f->n; i++)
		paired += f->rows[i].pairs > 0;
	if (2 * paired >= f->n)
		set_paired_law(f);
	else
		set_unpaired_laws(f);
}

/* Sets of the rows all above 'error', and of the metric all above 'machine'. */
static void
estimate_changes(struct model_row *rows, size_t n, const struct model_prior *p,
    struct model_metric *m)
{
	struct effect f = {.rows = rows, .n = n, .prior = p, .metric = m};

	*m = (struct model_metric){.separate = n >= MODEL_SEPARATE,
	    .sizes = p->sizes > 0 ? p->sizes : 1};
	f.sessions = mem_array(n + 1, sizeof *f.sessions);
	f.weights = mem_array(n + 1, sizeof *f.weights);
	for (int k = 0; k < KINDS; k++)
		f.own[k] = mem_array(n + 1, sizeof *f.own[k]);
	for (size_t i = 0; i < n; i++)
		list_sessions(&f, i);
	find_pairs(&f);
	measure_noise(&f);
	measure_sessions(&f);
	for (size_t i = 0; i < n; i++)
		estimate_row(&f, i);
	set_laws(&f);
	for (size_t i = 0; i < n; i++)
		free(f.sessions[i].v);
	free(f.sessions);
	free(f.weights);
	for (int k = 0; k < KINDS; k++)
		free(f.own[k]);
	free(f.residuals);
	free(f.common);
}

void
model_judge(struct model_row *rows, size_t n, const struct model_prior *p,
    struct model_metric *m)
{
	estimate_changes(rows, n, p, m);
	odds_judge(rows, n, m);
}

double
model_half_width(const struct model_row *r, double conf)
{
	return sqrt(r->error.var) * tdist_quantile(.5 + conf / 2, r->error.df) +
	    r->step;
}
