#include "apart.h"
#include "between.h"
#include "busy.h"
#include "cases.h"
#include "common.h"
#include "history.h"
#include "intern.h"
#include "json.h"
#include "judge.h"
#include "mem.h"
#include "part.h"
#include "sessions.h"
#include "stats.h"
#include "tdist.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The share of cases that may be changed without an effect on the variance of
 * the rests. */
#define ODD .2

static bool
is_virtual(const struct comparison *c)
{
	bool any = false;

	for (size_t i = 0; i < c->npairs && !any; i++)
		for (size_t j = 0; j < 2 && c->pairs[i].side[j]; j++) {
			struct json *env = json_object(),
				    *varied = json_object();

			cases_env(c->pairs[i].side[j], env, varied);
			any = any || json_get_bool(env, "virtual", false);
			json_free(env);
			json_free(varied);
		}
	return any;
}

/* Adds the sessions of a side; 'mark' is its bit. False if one is not known. */
static bool
add_sessions(struct intern *names, unsigned char *marks, const struct sample *s,
    unsigned char mark)
{
	for (size_t i = 0; i < s->n; i++) {
		if (!s->rounds[i].session)
			return false;
		marks[intern_id(names, s->rounds[i].session)] |= mark;
	}
	return true;
}

/* Counts the sessions of a row whose sides share none. False if that of a run
 * is not known. */
static bool
count_sessions(struct row *row)
{
	struct intern *names = intern_new();
	unsigned char *marks =
	    mem_array(row->used[0].n + row->used[1].n + 1, 1);
	bool known = add_sessions(names, marks, &row->used[0], 1) &&
	    add_sessions(names, marks, &row->used[1], 2);
	size_t n[2] = {0}, shared = 0;

	for (size_t i = 0; i < intern_count(names); i++) {
		n[0] += marks[i] & 1;
		n[1] += marks[i] >> 1;
		shared += marks[i] == 3;
	}
	if (known && !shared && n[0] && n[1])
		memcpy(row->sessions, n, sizeof n);
	free(marks);
	intern_free(names);
	return known;
}

bool
apart_find(struct comparison *c)
{
	for (size_t i = 0; i < c->nrows; i++)
		if (!c->rows[i].exact && !count_sessions(&c->rows[i]))
			c->unnamed_sessions = true;
	for (size_t i = 0; i < c->nrows; i++)
		for (size_t j = 0; j < 2; j++) {
			size_t *own = &c->rows[i].sessions[j];

			if (c->unnamed_sessions)
				*own = 0;
			if (*own > c->sessions[j])
				c->sessions[j] = *own;
		}
	return c->sessions[0] > 0;
}

/* One row of a metric: the rest of its change, and the variances of both. */
struct part_row {
	struct row *row;
	double change, rest;
	struct moderate noise; /* of the rest; of the change by runs at first */
	struct moderate busy;  /* by other programs */
};

struct shared {
	double change;
	struct moderate noise;
};

static double
find_median(const double *v, size_t n)
{
	double *sorted = stats_sorted(v, n), median = stats_median(sorted, n);

	free(sorted);
	return median;
}

/* The mean without the values farthest from the median, which may be changes.
 */
static double
find_usual(const double *v, size_t n)
{
	double median = find_median(v, n), sum = 0;
	double *off = mem_array(n, sizeof *off);
	size_t keep = n - (size_t)(ODD * (double)n);

	for (size_t i = 0; i < n; i++)
		off[i] = fabs(v[i] - median);
	stats_sort(off, n);
	for (size_t i = 0, got = 0; i < n && got < keep; i++)
		if (fabs(v[i] - median) <= off[keep - 1]) {
			sum += v[i];
			got++;
		}
	free(off);
	return sum / (double)keep;
}

/*
 * Returns the variance of the rests around 0 without the largest ones, which
 * may be changes: that of a normal distribution cut at the same quantile.
 */
static struct moderate
measure_rests(const struct part_row *v, size_t n)
{
	size_t keep = n - (size_t)ceil(ODD * (double)n);
	double q = (double)keep / (double)n, z, sum = 0, cut;
	double *squares = mem_array(n, sizeof *squares);

	for (size_t i = 0; i < n; i++)
		squares[i] = v[i].rest * v[i].rest;
	stats_sort(squares, n);
	for (size_t i = 0; i < keep; i++)
		sum += squares[i];
	free(squares);
	z = tdist_normal_quantile(.5 + q / 2);
	cut = 1 - 2 * z * exp(-z * z / 2) / sqrt(2 * M_PI) / q;
	return (struct moderate){
	    sum / (double)(keep - 1) / cut, (double)keep - 1};
}

/* The effect of sessions, and of other programs, on the difference of the
 * sides. */
static struct moderate
find_effect(const struct part_row *v)
{
	const size_t *n = v->row->sessions;
	struct moderate all = v->row->session;

	all.var *= 1 / (double)n[0] + 1 / (double)n[1];
	return moderate_add(all, v->busy);
}

/*
 * Sets how much sessions differ in these rows of one metric: by the policy, by
 * the history, or as assumed. The comparison gets the largest of the primary
 * rows.
 */
static void
set_session_noise(
    struct comparison *c, const struct rules *r, struct part_row *v, size_t n)
{
	double assumed = is_virtual(c) ? SESSIONS_SD_VIRTUAL : SESSIONS_SD;
	struct moderate known = {NAN, 0};

	if (n && r->history)
		known = history_sessions(
		    r->history, v[0].row->name, v[0].row->pair->side[0]);
	for (size_t i = 0; i < n; i++) {
		struct row *row = v[i].row;
		double sd = row->metric.grows ? SESSIONS_SD_MEMORY : assumed;

		row->session_from = "default";
		if (row->session.df > 0) {
			row->session_from = "policy";
		} else if (known.df > 0) {
			row->session = known;
			row->session_from = "history";
		} else {
			row->session = (struct moderate){sd * sd, SESSIONS_DF};
		}
		if (c->session_from &&
		    !(row->primary && sqrt(row->session.var) > c->session_sd))
			continue;
		c->session_from = row->session_from;
		c->session_sd = sqrt(row->session.var);
	}
}

/* Returns the variance that other programs add to one case beyond their effect
 * on all cases, whose standard deviation is 'mean'. */
static struct moderate
find_own_busy(const struct part_row *v, double mean)
{
	return (struct moderate){pow(sqrt(v->busy.var) - mean, 2), SESSIONS_DF};
}

/* With few sessions: the common change is the median of the changes. Where
 * sessions differ by case, the rests vary more than the noise of the runs. */
static struct shared
split_by_median(struct part_row *v, size_t n)
{
	double *changes = mem_array(n, sizeof *changes), own = 0, busy = 0;
	struct moderate rests, spread, effect = {0, INFINITY};
	struct shared all;

	for (size_t i = 0; i < n; i++) {
		changes[i] = v[i].change;
		own += v[i].noise.var / (double)n;
		busy += sqrt(v[i].busy.var) / (double)n;
		effect.var += find_effect(&v[i]).var / (double)n;
		effect.df = fmin(effect.df, find_effect(&v[i]).df);
	}
	all.change = find_median(changes, n);
	free(changes);
	for (size_t i = 0; i < n; i++)
		v[i].rest = v[i].change - all.change;
	rests = spread = measure_rests(v, n);
	/* pi/2: the variance of a median beside that of a mean. */
	all.noise = effect;
	all.noise.var += rests.var * M_PI / 2 / (double)n;
	/* The variance less that of the runs has fewer degrees of freedom. */
	rests.df *= pow(fmax(0, rests.var - own) / rests.var, 2);
	rests.var = fmax(0, rests.var - own);
	/* Runs without noise get the variance of all rests. */
	for (size_t i = 0; i < n; i++)
		v[i].noise = moderate_add(v[i].noise.var > 0
			? moderate_add(v[i].noise, rests)
			: spread,
		    find_own_busy(&v[i], busy));
	return all;
}

/* The mean of the medians that there are, and their number. */
static double
find_mean(const double *medians, size_t sessions, size_t *n)
{
	double sum = 0;

	*n = 0;
	for (size_t k = 0; k < sessions; k++)
		if (!isnan(medians[k])) {
			sum += medians[k];
			++*n;
		}
	return sum / (double)*n;
}

/* Returns the variance of one more value beside these, which lie around 0. */
static struct moderate
measure_spread(const double *v, size_t sessions, size_t contenders)
{
	double sum = 0;
	size_t n = 0;

	for (size_t k = 0; k < sessions; k++)
		if (!isnan(v[k])) {
			sum += v[k] * v[k];
			n++;
		}
	if (n < 2)
		return (struct moderate){NAN, 0};
	return (struct moderate){
	    sum / (double)(n - 1) * (1 / (double)n + 1 / (double)contenders),
	    (double)n - 1};
}

/*
 * With enough sessions of the baseline: the median of a session is one value,
 * and a session of the contender is predicted from them by Student's t. 'alone'
 * gets the variances of the changes themselves.
 */
static struct shared
split_by_sessions(struct part_row *v, size_t n, struct moderate *alone)
{
	struct intern *names[2] = {intern_new(), intern_new()};
	size_t sessions, contenders, got;
	double *of, *shared, *new, *changes = mem_array(n, sizeof *changes);
	struct moderate prior, *rests = mem_array(n, sizeof *rests);
	struct shared all = {0};

	for (size_t i = 0; i < n; i++)
		for (size_t j = 0; j < 2; j++)
			for (size_t r = 0; r < v[i].row->used[j].n; r++)
				intern_id(names[j],
				    v[i].row->used[j].rounds[r].session);
	sessions = intern_count(names[0]);
	contenders = intern_count(names[1]);
	of = mem_array(n * sessions, sizeof *of);
	shared = mem_array(sessions, sizeof *shared);
	new = mem_array(contenders, sizeof *new);
	for (size_t i = 0; i < n; i++) {
		double *m = of + i * sessions, mean;

		between_list_medians(&v[i].row->used[0], names[0], m);
		between_list_medians(&v[i].row->used[1], names[1], new);
		mean = find_mean(m, sessions, &got);
		for (size_t k = 0; k < sessions; k++)
			m[k] -= mean;
		v[i].change = find_mean(new, contenders, &got) - mean;
		changes[i] = v[i].change;
		alone[i] = measure_spread(m, sessions, got);
	}
	all.change = find_usual(changes, n);
	for (size_t k = 0; k < sessions; k++) {
		double sum = 0;

		got = 0;
		for (size_t i = 0; i < n; i++)
			if (!isnan(of[i * sessions + k])) {
				sum += of[i * sessions + k];
				got++;
			}
		shared[k] = sum / (double)got;
		for (size_t i = 0; i < n; i++)
			of[i * sessions + k] -= shared[k];
	}
	all.noise = measure_spread(shared, sessions, contenders);
	for (size_t i = 0; i < n; i++)
		rests[i] =
		    measure_spread(of + i * sessions, sessions, contenders);
	/* A changed case is compared with the n - 1 others only. */
	for (size_t i = 0; i < n && n > 1; i++)
		rests[i].var *= (double)(n + 1) / (double)(n - 1);
	prior = moderate_prior(rests, n);
	for (size_t i = 0; i < n; i++) {
		v[i].rest = v[i].change - all.change;
		v[i].noise = moderate_shrink(rests[i], &prior);
	}
	for (size_t j = 0; j < 2; j++)
		intern_free(names[j]);
	free(of);
	free(shared);
	free(new);
	free(changes);
	free(rests);
	return all;
}

/* Sets the change and its interval, and tests the rest of it, or if there are
 * too few cases, the change. */
static void
set_row(struct part_row *v, struct moderate whole, bool assumed, bool rest)
{
	struct row *row = v->row;
	struct verdict_facts *f = &row->facts;

	f->change = v->change;
	f->se = sqrt(whole.var);
	f->df = whole.df;
	f->assumed_se = assumed;
	verdict_use_t(f, true, row->level, row->level10);
	f->method = "t-sessions";
	if (!rest)
		return;
	row->rest = *f;
	row->rest.change = v->rest;
	row->rest.se = sqrt(v->noise.var);
	row->rest.df = v->noise.df;
	row->rest.assumed_se = false;
	verdict_use_t(&row->rest, true, row->level, row->level10);
	row->has_rest = true;
	f->p = row->rest.p;
}

/* Fills *v for a row whose sides share no session. Sides of equal values have a
 * change too: a coarse clock rounds off the noise of runs, but not how sessions
 * differ. Returns false if the row has no change, or shares a session. */
static bool
take_row(struct part_row *v, struct row *row)
{
	const struct verdict_facts *f = &row->facts;

	*v = (struct part_row){
	    .row = row, .change = f->change, .noise = {f->se * f->se, f->df}};
	if (!row->sessions[0])
		return false;
	if (f->se > 0)
		return true;
	v->change = log(f->ratio);
	v->noise = (struct moderate){0, 1};
	return strcmp(f->method, "exact") == 0 && isfinite(v->change);
}

/* Are there enough sessions, and do they differ? 'whole' gets the variances of
 * the changes. */
static bool
are_measured(
    struct part_row *v, size_t n, struct moderate *whole, struct shared *all)
{
	for (size_t i = 0; i < n; i++)
		if (v[i].row->sessions[0] < APART_SESSIONS || v[i].busy.var > 0)
			return false;
	if (!n)
		return false;
	*all = split_by_sessions(v, n, whole);
	for (size_t i = 0; i < n; i++)
		if (!(whole[i].var > 0))
			return false;
	return n < APART_CASES || all->noise.var > 0;
}

/*
 * Returns the row whose margin and waiver the row of all cases gets: the judged
 * one with the widest margin, or NULL. With a narrower margin all cases
 * together could be a regression although each is within its own margin.
 */
static const struct row *
find_model(const struct part_row *v, size_t n)
{
	const struct row *model = NULL;

	for (size_t i = 0; i < n; i++)
		if (v[i].row->gate &&
		    (!model || v[i].row->margin > model->margin))
			model = v[i].row;
	return model;
}

/* Adds the row of what all cases have in common. It is waived if all judged
 * cases have the same waiver. */
static void
add_common(struct comparison *c, const struct part_row *v, size_t n,
    const struct shared *all, bool assumed)
{
	const struct row *model = find_model(v, n);
	struct row like;

	if (!model)
		return;
	like = *model;
	like.primary = false;
	for (size_t i = 0; i < n; i++) {
		like.primary = like.primary || v[i].row->primary;
		if (v[i].row->gate &&
		    v[i].row->waiver.reason != like.waiver.reason)
			like.waiver = (struct policy_waiver){0};
	}
	common_add(c, &like, all->change, all->noise, assumed, n);
}

void
apart_widen(struct comparison *c, const struct rules *r, size_t first,
    const size_t *next)
{
	struct part_row *v = mem_array(c->nrows + 1, sizeof *v);
	struct moderate *whole = mem_array(c->nrows + 1, sizeof *whole);
	struct shared all = {0};
	size_t n = 0;
	bool few;

	for (size_t i = first; i < c->nrows; i = next[i])
		if (take_row(&v[n], &c->rows[i])) {
			v[n].busy = busy_noise(&c->rows[i]);
			n++;
		}
	few = !are_measured(v, n, whole, &all);
	if (few) {
		for (size_t i = 0; i < n; i++) {
			take_row(&v[i], v[i].row);
			v[i].busy = busy_noise(v[i].row);
		}
		set_session_noise(c, r, v, n);
		if (n >= APART_CASES)
			all = split_by_median(v, n);
		for (size_t i = 0; i < n; i++)
			whole[i] = moderate_add(v[i].noise, find_effect(&v[i]));
	}
	for (size_t i = 0; i < n; i++)
		set_row(&v[i], whole[i], few, n >= APART_CASES);
	if (n >= APART_CASES)
		add_common(c, v, n, &all, few);
	free(v);
	free(whole);
}
