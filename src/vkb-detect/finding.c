#include "finding.h"
#include "branch.h"
#include "casename.h"
#include "changepoint.h"
#include "counted.h"
#include "intern.h"
#include "json.h"
#include "judge/model.h"
#include "judge/odds.h"
#include "judge/sheet.h"
#include "machines.h"
#include "mem.h"
#include "reading.h"
#include "sessions.h"
#include "spike.h"
#include "stats.h"
#include "str.h"
#include "trend.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * What may change a result besides the commit: the server of a module, and the
 * settings of a host.
 */

/* Adds what changed, with 'name' before it, if both values are known. */
static void
add_change(struct str *s, const char *name, size_t len, const char *a, size_t m,
    const char *b, size_t n)
{
	if (!m || !n || (m == n && memcmp(a, b, n) == 0))
		return;
	str_printf(s, "%s%.*s%s from %.*s to %.*s", s->len ? ", " : "the ",
	    (int)len, name, s->len ? "" : " changed", (int)m, a, (int)n, b);
}

static void
add_settings(struct str *s, const char *a, const char *b)
{
	while (*a && *b) {
		size_t name = strcspn(a, "\t"), m, n;

		a += name + 1;
		b += name + 1;
		m = strcspn(a, "\n");
		n = strcspn(b, "\n");
		add_change(s, a - name - 1, name, a, m, b, n);
		a += m + (a[m] == '\n');
		b += n + (b[n] == '\n');
	}
}

static void
add_changes(struct str *s, const struct reading *in, bool host,
    const struct branch_setup *old, const struct branch_setup *new)
{
	const char *x = intern_text(in->servers, old->server);
	const char *y = intern_text(in->servers, new->server);

	add_change(s, "server", strlen("server"), x, strlen(x), y, strlen(y));
	if (host)
		add_settings(s, intern_text(in->settings, old->settings),
		    intern_text(in->settings, new->settings));
}

/*
 * Returns "the server changed from 8.0.1 to 9.0.0" if a point of lo..hi with
 * values was measured with another server, or on a named host with other
 * settings, than one of the last 'before' points with values before lo. Caller
 * frees; NULL if none was.
 */
static char *
find_change(const struct branch *b, const struct branch_values *v,
    size_t machine, size_t before, size_t lo, size_t hi)
{
	bool host = machines_is_host(b->reading->machines, machine);
	struct str s = {0};

	for (size_t i = lo; i-- > 0 && before && !s.len;) {
		before -= !isnan(v->v[i]);
		for (size_t k = lo; k <= hi && !s.len; k++)
			if (!isnan(v->v[i]) && !isnan(v->v[k]))
				add_changes(&s, b->reading, host, &v->setups[i],
				    &v->setups[k]);
	}
	return s.len ? str_take(&s) : NULL;
}

#define POINTS 10
#define LEAST_LOSS .1  /* ln: a tenth of the CPU time */
#define LEAST_LEFT .01 /* of it */

/* Returns the median of up to n values from point i on, before it if 'back'. */
static double
find_level(const double *v, size_t npoints, size_t i, size_t n, bool back)
{
	double found[POINTS];
	size_t k = 0;

	while (k < n && k < POINTS && (back ? i > 0 : i < npoints)) {
		double x = back ? v[--i] : v[i++];

		if (!isnan(x))
			found[k++] = x;
	}
	stats_sort(found, k);
	return stats_median(found, k);
}

static double
measure_loss(double percent)
{
	return -log(fmax(LEAST_LEFT, 1 - percent / 100));
}

/*
 * Returns "other processes used 0% of the CPU before and 88% since" if they did
 * so differently before point lo and from hi on, in the median of up to ten of
 * n[0] and n[1] points with values, that this alone may have changed ln(value)
 * by 'ln': two standard deviations of 'weight' (metric_foreign_weight) of what
 * they left. 'way': with more of them the value rises, 1, or falls, -1; 0:
 * either. Caller frees; NULL: no, or it is not known.
 */
static char *
find_neighbours(const struct branch *b, const struct branch_series *of,
    size_t lo, size_t hi, const size_t n[2], double weight, int way, double ln)
{
	const struct branch_series *s = b->series, *end = s + b->nseries;
	struct branch_values v;
	double before, since, loss;

	while (s < end &&
	    (s->kase != of->kase || s->machine != of->machine ||
		strcmp(s->metric, "foreign_cpu_percent") != 0))
		s++;
	if (s == end || !(weight > 0))
		return NULL;
	branch_read_values(b, s, &v);
	before = find_level(v.v, b->npoints, lo, n[0], true);
	since = find_level(v.v, b->npoints, hi, n[1], false);
	branch_free_values(&v);
	if (isnan(before) || isnan(since))
		return NULL;
	loss = measure_loss(since) - measure_loss(before);
	/* With more of them a server is slower, never faster; a ratio to
	 * another one is either. */
	if (way != 0 && way * ln * loss < 0)
		return NULL;
	return fabs(loss) >= LEAST_LOSS && fabs(ln) <= 2 * weight * fabs(loss)
	    ? mem_printf("other processes used %.0f%% of the CPU before and "
			 "%.0f%% since",
		  before, since)
	    : NULL;
}

/*
 * How much the points of a series speak for a change of its level, or a slope.
 *
 * The evidence is the logarithm of how much likelier the points are with a
 * change of any size than without one, by the model of vkb-compare
 * (judge/odds.h). The noise of the new level may be another, and neighbours may
 * resemble each other: how much is not known, so that the likelihoods are
 * summed over several values.
 */

#define LEAST 1e-14 /* variance of points that are equal */

/* Collects the points of a level v[from..to-1] without the spikes among the n
 * changes, and their indexes, unless 'at' is NULL. Returns their number. */
static size_t
collect_points(const double *v, size_t from, size_t to,
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
	/* cppcheck-suppress invalidFunctionArg ; both levels have runs */
	l.weight = -.5 * log(det);
	l.weight += .5 * log(1 - rho * rho) - (double)r->n[1] * log(noise) -
	    df / 2 * log(squares);
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
		struct odds_one own =
		    odds_weigh(v[i].change, v[i].error, r->step);

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

/* Sets the facts and the evidence of a step from x to y, points in order. */
static void
weigh_levels(
    struct finding *f, const double *x, size_t m, const double *y, size_t n)
{
	struct sheet *s = sheet_new(1, metric_has_clock(&f->metric));
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

/* Sets the evidence of a slope. */
static void
weigh_slope(struct finding *f, const struct trend *t)
{
	double by = fmax(fabs(t->begin), fabs(t->end));
	double change = t->end - t->begin;
	struct moderate error = {fmax(LEAST, t->se / by * t->se / by), t->df};
	struct odds_one own = odds_weigh(change / by, error, 0);

	f->evidence =
	    log(fmax(own.changed, 1e-300) / fmax(own.unchanged, 1e-300));
}

static void
drop_finding(struct finding *f)
{
	free(f->name);
	free(f->setup);
	free(f->runs);
	free(f->sessions);
	free(f->parts);
	free(f->without);
}

/*
 * The changes of a metric without noise, in a history.
 */

/* The smallest and the largest value of a point. */
struct span {
	double least, most;
};

static struct span
find_span(const struct branch_values *s, size_t at)
{
	struct span of = {INFINITY, -INFINITY};

	for (size_t k = s->first[at]; k < s->first[at + 1]; k++) {
		of.least = fmin(of.least, s->all[k]);
		of.most = fmax(of.most, s->all[k]);
	}
	return of;
}

/* Are all values of one point beyond the margin of all of the other? */
static bool
is_beyond(struct span low, struct span high, double margin)
{
	return low.most < high.least &&
	    !(low.most >= high.least * (1 - margin));
}

/*
 * Finds all changes beyond the margin of n points. The runs of a commit may
 * differ: such a point shows a change if all of its values do; if they differ
 * by more than the margin, it shows nothing else. Returns the number of
 * changes; the caller frees *found.
 */
static size_t
find_steps(const struct branch_values *s, size_t n, double margin,
    struct changepoint **found)
{
	struct changepoint *c = mem_array(n + 1, sizeof *c);
	struct span before = {0, 0}, now;
	size_t k = 0, last = n, level = 0;
	const double *v = s->v;

	for (size_t i = 0; i < n; i++) {
		if (isnan(v[i]))
			continue;
		now = find_span(s, i);
		if (last < n &&
		    (is_beyond(now, before, margin) ||
			is_beyond(before, now, margin))) {
			c[k++] = (struct changepoint){.at = i,
			    .from = level,
			    .lo = last + 1,
			    .hi = i,
			    .p = NAN};
			level = i;
		} else if (last < n &&
		    now.most - now.least > before.most - before.least &&
		    !(now.least >= now.most * (1 - margin)))
			continue;
		last = i;
		before = now;
	}
	for (size_t i = 0; i < k; i++) {
		c[i].to = i + 1 < k ? c[i + 1].at : n;
		for (size_t j = c[i].from; j < c[i].to; j++)
			c[i].n[j >= c[i].at] += !isnan(v[j]);
	}
	*found = c;
	return k;
}

/*
 * Slow changes: a level of a series that rises or falls along a slope.
 */

static void
describe_slope(struct finding *f, const struct trend *t)
{
	double all = t->end - t->begin, ends[2];

	f->facts = verdict_start(&t->begin, 1, &t->end, 1);
	f->pace = NAN;
	f->method = "slope";
	f->kind = FINDING_TREND;
	f->way =
	    (enum finding_kind)verdict_direction(f->metric.better, all > 0);
	if (!(t->begin > 0) || !(t->end > 0))
		return;
	ends[0] = 1 + t->lo / t->begin;
	ends[1] = 1 + t->hi / t->begin;
	f->facts.ratio = t->end / t->begin;
	f->facts.lo95 = fmax(0, ends[0]);
	f->facts.hi95 = ends[1];
	f->pace = (f->facts.ratio - 1) / (double)(f->n[1] - 1);
}

/*
 * Looks for a slope beyond the margin of the finding in the level v[from..to-1]
 * without the spikes among the n changes, by trend.h. Sets the place of the
 * finding, the points before the slope and on it, its facts (the fitted values
 * at its ends, as medians), its evidence, and what it changes for each commit.
 */
static bool
find_slope(struct finding *f, const double *v, size_t from, size_t to,
    const struct changepoint *c, size_t n)
{
	double *x = mem_array(to - from + 1, sizeof *x);
	size_t *at = mem_array(to - from + 1, sizeof *at);
	size_t k = collect_points(v, from, to, c, n, x, at);
	struct trend t;
	bool found =
	    trend_find(x, k, &t) && spike_size(t.begin, t.end) > f->margin;

	if (found) {
		f->at = f->lo = at[t.first];
		f->hi = at[t.last];
		f->n[0] = t.first;
		f->n[1] = t.last - t.first + 1;
		describe_slope(f, &t);
		weigh_slope(f, &t);
	}
	free(x);
	free(at);
	return found;
}

/*
 * Groups the changes that several series show, and gives groups and changes
 * their keys.
 */

#define MARKS 8 /* one commit of so many is a mark */

/* For qsort of pointers to findings: by kind, direction, and end of the range.
 */
static int
compare_ends(const void *a, const void *b)
{
	const struct finding *x = *(const struct finding *const *)a;
	const struct finding *y = *(const struct finding *const *)b;
	int c = (x->kind > y->kind) - (x->kind < y->kind);

	c = c ? c : (int)finding_direction(x) - (int)finding_direction(y);
	c = c ? c : (x->hi > y->hi) - (x->hi < y->hi);
	c = c ? c : (x->lo > y->lo) - (x->lo < y->lo);
	return c ? c : (x > y) - (x < y);
}

/* Returns the point where most changes are, the first of equally many. */
static size_t
find_common_place(struct finding *const *v, size_t n)
{
	size_t best = v[0]->at, most = 0;

	for (size_t i = 0; i < n; i++) {
		size_t k = 0;

		for (size_t j = 0; j < n; j++)
			k += v[j]->at == v[i]->at;
		if (k > most || (k == most && v[i]->at < best)) {
			best = v[i]->at;
			most = k;
		}
	}
	return best;
}

static int
compare_groups(const void *a, const void *b)
{
	const struct finding_group *x = a, *y = b;
	int c = y->counts - x->counts;

	c = c ? c : (x->kind == FINDING_SPIKE) - (y->kind == FINDING_SPIKE);
	c = c ? c : (x->at < y->at) - (x->at > y->at);
	c = c ? c : (int)x->kind - (int)y->kind;
	return c ? c : (int)x->way - (int)y->way;
}

static void
set_group_keys(struct findings *all, const struct branch *b, bool latest)
{
	struct finding_group *g = all->groups, *other;

	for (size_t i = 0; i < all->ngroups; i++)
		g[i].mark = latest ? 0 : branch_find_mark(b, g[i].at, MARKS);
	for (size_t i = 0; i < all->ngroups; i++) {
		struct str s = {0};
		size_t before = 0;

		for (other = g; other < g + all->ngroups; other++)
			before += other->kind == g[i].kind &&
			    other->way == g[i].way &&
			    other->mark == g[i].mark && other->at < g[i].at;
		str_printf(&s, "%s\n%s%zu\n", finding_name_kind(g[i].kind),
		    g[i].kind == FINDING_TREND ? finding_name_kind(g[i].way)
					       : "",
		    before);
		if (latest)
			branch_add_point(&s, &b->points[g[i].at]);
		else
			str_printf(&s, "%llx", g[i].mark);
		snprintf(g[i].key, sizeof g[i].key, "%016llx",
		    str_hash(STR_HASH, s.s, s.len));
		str_free(&s);
	}
}

/*
 * Groups changes of one kind with overlapping ranges: each group takes all
 * changes whose range contains the earliest end of a range, so that they have a
 * common point.
 */
static void
group_findings(struct findings *all)
{
	struct finding **v = mem_array(all->n + 1, sizeof(struct finding *));
	size_t *now = mem_array(all->n + 1, sizeof *now);

	for (size_t i = 0; i < all->n; i++)
		v[i] = &all->v[i];
	mem_sort(v, all->n, sizeof(struct finding *), compare_ends);
	all->groups = mem_array(all->n + 1, sizeof *all->groups);
	for (size_t i = 0, k; i < all->n; i += k) {
		struct finding_group *g = &all->groups[all->ngroups];

		*g = (struct finding_group){.kind = v[i]->kind,
		    .way = finding_direction(v[i]),
		    .hi = v[i]->hi,
		    .lo = v[i]->lo};
		for (k = 0; i + k < all->n && v[i + k]->kind == g->kind &&
		     finding_direction(v[i + k]) == g->way &&
		     v[i + k]->lo <= g->hi;
		     k++) {
			g->counts |= finding_is_counted(v[i + k]);
			if (v[i + k]->lo > g->lo)
				g->lo = v[i + k]->lo;
			v[i + k]->group = all->ngroups;
		}
		g->n = k;
		g->at = find_common_place(v + i, k);
		if (g->kind == FINDING_TREND && g->at < g->lo)
			g->lo = g->at; /* where most of them begin */
		g->at = g->at < g->lo ? g->lo : g->at;
		g->at = g->at > g->hi ? g->hi : g->at;
		all->ngroups++;
	}
	for (size_t i = 0; i < all->ngroups; i++)
		all->groups[i].was = i;
	mem_sort(
	    all->groups, all->ngroups, sizeof *all->groups, compare_groups);
	for (size_t i = 0; i < all->ngroups; i++)
		now[all->groups[i].was] = i;
	for (size_t i = 0; i < all->n; i++)
		all->v[i].group = now[all->v[i].group];
	free(now);
	free(v);
}

char *
finding_make_key(const struct finding *f, const struct branch *b)
{
	struct str s = {0};
	char *key;

	str_add(&s, f->metric.name);
	str_addc(&s, '\n');
	json_canonical(&s, f->series->config);
	str_addc(&s, '\n');
	branch_add_point(&s, &b->points[f->at]);
	if (f->kind == FINDING_TREND)
		str_add(&s, "\ntrend");
	if (f->twin)
		str_printf(&s, "\n%s",
		    machines_name(b->reading->machines, f->series->machine));
	key = mem_printf("%016llx", str_hash(STR_HASH, s.s, s.len));
	str_free(&s);
	return key;
}

/*
 * Joins what several machines show of one change.
 *
 * Each machine has series of its own, and its noise is independent of that of
 * the others, so that the evidence of machines that show the same change adds
 * up.
 */

/* The series of one case and metric: v[first..last-1] of the branch. */
struct bundle {
	const struct branch *b;
	const struct finding_rules *r;
	size_t first, last;
	struct branch_values *values; /* by series; NULL: not read yet */
};

static bool
is_same_metric(const struct branch_series *a, const struct branch_series *b)
{
	return a->kase == b->kase && a->column == b->column;
}

static struct bundle
find_bundle(const struct branch *b, const struct branch_series *s,
    const struct finding_rules *r)
{
	struct bundle u = {.b = b, .r = r, .first = (size_t)(s - b->series)};

	while (u.first > 0 && is_same_metric(s, &b->series[u.first - 1]))
		u.first--;
	u.last = u.first;
	while (u.last < b->nseries && is_same_metric(s, &b->series[u.last]))
		u.last++;
	return u;
}

static void
read_bundle(struct bundle *u)
{
	if (u->values)
		return;
	u->values = mem_array(u->last - u->first, sizeof *u->values);
	for (size_t i = u->first; i < u->last; i++)
		branch_read_values(
		    u->b, &u->b->series[i], &u->values[i - u->first]);
}

static void
free_bundle(struct bundle *u)
{
	for (size_t i = 0; u->values && i < u->last - u->first; i++)
		branch_free_values(&u->values[i]);
	free(u->values);
}

/* Has the series enough points on both sides of the finding to show it? */
static bool
could_show(const struct bundle *u, const struct branch_values *v,
    const struct finding *f)
{
	size_t before = 0, after = 0;
	size_t least =
	    u->r->latest || strcmp(f->method, "exact") == 0 ? 1 : SPIKE_POINTS;

	for (size_t i = 0; i < u->b->npoints && v->v; i++) {
		before += i < f->lo && !isnan(v->v[i]);
		after += i >= f->hi && !isnan(v->v[i]);
	}
	return before >= least && after >= least;
}

static bool
has_part(const struct finding *f, size_t machine)
{
	for (size_t i = 0; i < f->nparts; i++)
		if (f->parts[i].machine == machine)
			return true;
	return false;
}

static void
find_machines_without(struct finding *f, struct bundle *u)
{
	read_bundle(u);
	f->without = mem_array(u->last - u->first, sizeof *f->without);
	for (size_t i = u->first; i < u->last; i++) {
		size_t machine = u->b->series[i].machine;

		if (!has_part(f, machine) &&
		    could_show(u, &u->values[i - u->first], f))
			f->without[f->nwithout++] = machine;
	}
}

static struct finding_part
make_part(const struct finding *f)
{
	return (struct finding_part){.machine = f->series->machine,
	    .n = {f->n[0], f->n[1]},
	    .facts = f->facts};
}

/* Is 'a' the one to show, rather than 'b'? */
static bool
is_better(const struct finding *a, const struct finding *b)
{
	bool counts = finding_is_counted(a);

	if (counts != finding_is_counted(b))
		return counts;
	return a->evidence > b->evidence; /* not if one is NAN */
}

/* Makes one finding of n, which it takes, of different machines. */
static struct finding
join_findings(struct finding *const *v, size_t n, struct bundle *u)
{
	size_t best = 0;
	struct finding f;

	for (size_t i = 1; i < n; i++)
		if (is_better(v[i], v[best]))
			best = i;
	f = *v[best];
	f.parts = mem_array(n, sizeof *f.parts);
	f.parts[f.nparts++] = make_part(&f);
	for (size_t i = 0; i < n; i++) {
		if (i == best)
			continue;
		f.parts[f.nparts++] = make_part(v[i]);
		drop_finding(v[i]);
		if (f.kind == FINDING_TREND)
			continue;
		f.lo = v[i]->lo > f.lo ? v[i]->lo : f.lo;
		f.hi = v[i]->hi < f.hi ? v[i]->hi : f.hi;
		f.fresh &= v[i]->fresh;
	}
	f.at = f.at < f.lo ? f.lo : f.at > f.hi ? f.hi : f.at;
	find_machines_without(&f, u);
	return f;
}

/* Returns how many of the findings v[0..n-1], ordered by their end, are of one
 * change: none of the same machine. */
static size_t
count_joined(struct finding *const *v, size_t n)
{
	size_t k = 1;

	for (; k < n && v[k]->kind == v[0]->kind &&
	     finding_direction(v[k]) == finding_direction(v[0]) &&
	     v[k]->lo <= v[0]->hi;
	     k++)
		for (size_t i = 0; i < k; i++)
			if (v[i]->series == v[k]->series)
				return k;
	return k;
}

/* Joins the n findings of a bundle to 'out'. Returns their new number. */
static size_t
join_bundle(struct finding **v, size_t n, struct bundle *u, struct finding *out)
{
	size_t kept = 0;

	qsort(v, n, sizeof *v, compare_ends);
	for (size_t i = 0, k; i < n; i += k) {
		k = count_joined(v + i, n - i);
		out[kept] = join_findings(v + i, k, u);
		for (size_t j = 0; j < kept; j++)
			out[kept].twin |= out[j].at == out[kept].at &&
			    (out[j].kind == FINDING_TREND) ==
				(out[kept].kind == FINDING_TREND);
		kept++;
	}
	return kept;
}

/* Sets v[0..] to the findings of the case and metric of all->v[i]. Returns
 * their number. */
static size_t
collect_bundle(struct findings *all, size_t i, struct finding **v)
{
	size_t n = 0;

	for (; i + n < all->n &&
	     is_same_metric(all->v[i].series, all->v[i + n].series);
	     n++)
		v[n] = &all->v[i + n];
	return n;
}

/* Sets which findings are of one change: of one case, metric, kind and
 * direction, with overlapping ranges. */
static void
match_findings(struct findings *all)
{
	struct finding **v = mem_array(all->n + 1, sizeof(struct finding *));

	for (size_t i = 0, n; i < all->n; i += n) {
		n = collect_bundle(all, i, v);
		qsort(v, n, sizeof *v, compare_ends);
		for (size_t j = 0, k; j < n; j += k) {
			k = count_joined(v + j, n - j);
			for (size_t l = j; l < j + k; l++)
				v[l]->joint = (size_t)(v[j] - all->v);
		}
	}
	free(v);
}

/*
 * Makes one finding of those of each change. The one that counts, or has the
 * most evidence, stands for all, with the range that they share. Sets its
 * parts, and the machines without the change: those with enough points on both
 * sides, or one with --latest. Does nothing if the history is of one machine.
 */
static void
join_machines(
    struct findings *all, const struct branch *b, const struct finding_rules *r)
{
	struct finding **v, *out;
	size_t kept = 0;

	if (b->machines < 2)
		return;
	v = mem_array(all->n + 1, sizeof(struct finding *));
	out = mem_array(all->n + 1, sizeof *out);
	for (size_t i = 0, n; i < all->n; i += n) {
		struct bundle u = find_bundle(b, all->v[i].series, r);

		n = collect_bundle(all, i, v);
		kept += join_bundle(v, n, &u, out + kept);
		free_bundle(&u);
	}
	free(v);
	free(all->v);
	all->v = out;
	all->n = kept;
	all->cap = kept;
}

/*
 * Judges what was found: which of it a report claims (judge/claim.h).
 *
 * The prior odds of a change are shared by the series that are judged, so that
 * many series give no more false alarms than one. With the evidence of a
 * finding they give the probability of its change. At most one report in 20
 * without a change claims one: tests/bench/reports.
 */

/*
 * The prior odds that a commit changes one of all series. They are larger than
 * the share of such commits: only places that the search and the permutations
 * found are weighed, which chance makes rarely.
 */
#define CHANGED .2

/* Removes the changes of a history that are not claimed. 'series': how many
 * were judged, of gates [1] and of other metrics [0]. */
static void
claim_findings(struct findings *all, const size_t series[2])
{
	struct claim *claims = mem_array(all->n + 1, sizeof *claims);
	double *evidence = mem_array(all->n + 1, sizeof *evidence);
	size_t kept = 0;

	for (size_t i = 0; i < all->n; i++)
		evidence[all->v[i].joint] += all->v[i].evidence;
	for (size_t i = 0; i < all->n; i++) {
		struct finding *f = &all->v[i];
		double odds = log(CHANGED / fmax(1, (double)series[f->gate])) +
		    evidence[f->joint];

		f->probability = 1 / (1 + exp(-odds));
		claims[i].p = f->probability;
		claims[i].beyond = f->joint == i && !isnan(odds);
		claims[i].shown = !f->gate;
	}
	claim_choose(claims, all->n, false);
	for (size_t i = 0; i < all->n; i++)
		if (isnan(all->v[i].evidence) ||
		    claims[all->v[i].joint].word == CLAIM_CHANGE)
			all->v[kept++] = all->v[i];
		else
			drop_finding(&all->v[i]);
	all->n = kept;
	free(evidence);
	free(claims);
}

static bool
is_measured(const struct finding *f)
{
	return f->runs && !f->facts.assumed;
}

static bool
is_same_sheet(const struct finding *a, const struct finding *b)
{
	return strcmp(a->metric.name, b->metric.name) == 0 &&
	    a->series->machine == b->series->machine;
}

static void
fill_row(struct sheet *s, size_t row, const struct finding *f)
{
	for (size_t i = 0; i < f->n[0] + f->n[1]; i++)
		/* The sides are not compared run by run. */
		sheet_add(s, row, i >= f->n[0], f->runs[i], f->sessions[i],
		    (double)i);
}

/* Judges the n findings of one metric and machine. */
static void
judge_sheet(struct finding *const *v, size_t n, enum sessions_host host)
{
	struct model_prior prior = sessions_assume(&v[0]->metric, host, NULL);
	struct sheet *s = sheet_new(n, metric_has_clock(&v[0]->metric));
	struct model_metric m;
	struct model_row *rows;

	for (size_t i = 0; i < n; i++)
		fill_row(s, i, v[i]);
	rows = sheet_rows(s);
	model_judge(rows, n, &prior, &m);
	for (size_t i = 0; i < n; i++) {
		struct finding *f = v[i];

		verdict_take(&f->facts, &rows[i]);
		f->method = f->facts.method;
		f->probability = f->facts.p;
	}
	sheet_free(s);
}

static void
judge_sheets(struct findings *all, enum sessions_host host)
{
	struct finding **v = mem_array(all->n + 1, sizeof *v);
	bool *done = mem_array(all->n + 1, sizeof *done);

	for (size_t i = 0; i < all->n; i++) {
		size_t n = 0;

		for (size_t k = i; k < all->n; k++)
			if (!done[k] && is_measured(&all->v[k]) &&
			    is_same_sheet(&all->v[i], &all->v[k])) {
				v[n++] = &all->v[k];
				done[k] = true;
			}
		if (n)
			judge_sheet(v, n, host);
	}
	free(done);
	free(v);
}

/* Does the finding, with this verdict, at the place of the other and of the
 * same case, outweigh it? */
static bool
is_outweighing(
    const struct finding *f, enum verdict v, const struct finding *other)
{
	struct verdict_other by = {.name = f->metric.name,
	    .facts = &f->facts,
	    .verdict = v,
	    .time = f->primary ||
		metric_is_time(f->metric.name, f->series->config)};

	return f->series->kase == other->series->kase && f->gate &&
	    f->lo <= other->hi && other->lo <= f->hi &&
	    verdict_outweighs(&by, other->metric.name, &other->facts);
}

/* May slightly more instructions be outweighed? Not if the margin was chosen,
 * or if what was measured of the case became worse at the same place. */
static bool
may_be_slight(
    const struct findings *all, const enum verdict *v, const struct finding *f)
{
	if (f->margin != f->metric.margin)
		return false;
	for (size_t i = 0; i < all->n; i++) {
		const struct finding *by = &all->v[i];

		if (by->series->kase == f->series->kase && by->gate &&
		    strcmp(by->method, "exact") != 0 && by->lo <= f->hi &&
		    f->lo <= by->hi &&
		    (v[i] == VERDICT_REGRESSION ||
			v[i] == VERDICT_LIKELY_REGRESSION))
			return false;
	}
	return true;
}

/* More allocations or system calls are not a regression of a case that takes
 * less, nor are slightly more instructions of one that is not slower. 'v' has
 * the verdicts of the findings. */
static void
outweigh_findings(struct findings *all, enum verdict *v)
{
	for (size_t i = 0; i < all->n; i++) {
		struct finding *f = &all->v[i];

		if (v[i] != VERDICT_REGRESSION ||
		    (verdict_is_slight(f->metric.name, &f->facts) &&
			!may_be_slight(all, v, f)))
			continue;
		for (size_t k = 0; k < all->n; k++)
			f->outweighed |= is_outweighing(&all->v[k], v[k], f);
		if (f->outweighed)
			v[i] = VERDICT_DIFFERENT;
	}
}

/*
 * Judges the findings about the newest point by the model of vkb-compare, sets
 * their kinds by the verdicts and removes those that are not a change.
 */
static void
judge_newest(struct findings *all, enum sessions_host host)
{
	struct claim *claims = mem_array(all->n + 1, sizeof *claims);
	enum verdict *v = mem_array(all->n + 1, sizeof *v);
	size_t kept = 0;

	judge_sheets(all, host);
	for (size_t i = 0; i < all->n; i++) {
		claims[i] =
		    verdict_make_claim(&all->v[i].facts, all->v[i].margin);
		claims[i].shown = !all->v[i].gate;
	}
	claim_choose(claims, all->n, false);
	for (size_t i = 0; i < all->n; i++) {
		struct finding *f = &all->v[i];

		v[i] = verdict_decide(
		    &f->facts, f->metric.better, f->margin, claims[i].word);
		if (f->setup && v[i] <= VERDICT_LIKELY_DIFFERENT)
			v[i] = v[i] < VERDICT_LIKELY_REGRESSION
			    ? VERDICT_DIFFERENT
			    : VERDICT_LIKELY_DIFFERENT;
	}
	outweigh_findings(all, v);
	for (size_t i = 0; i < all->n; i++) {
		struct finding *f = &all->v[i];

		all->verdicts[v[i]] += f->gate;
		all->enough += v[i] != VERDICT_INSUFFICIENT;
		if (v[i] > VERDICT_LIKELY_DIFFERENT) {
			drop_finding(f);
			continue;
		}
		f->kind = (enum finding_kind)v[i];
		all->v[kept++] = *f;
	}
	all->n = kept;
	free(v);
	free(claims);
}

#define NEAR 100 /* points on each side that are compared */

const char *
finding_name_kind(enum finding_kind kind)
{
	if (kind == FINDING_SPIKE)
		return "spike";
	return kind == FINDING_TREND ? "trend"
				     : verdict_name((enum verdict)kind);
}

enum finding_kind
finding_direction(const struct finding *f)
{
	return f->kind == FINDING_TREND ? f->way : f->kind;
}

bool
finding_is_counted(const struct finding *f)
{
	return finding_direction(f) == FINDING_REGRESSION && f->gate &&
	    f->fresh && f->stands && !f->waived;
}

size_t
finding_find_revert(const struct findings *all, size_t group)
{
	size_t at = SIZE_MAX;

	for (size_t i = finding_find_next(all, group, 0); i < all->n;
	     i = finding_find_next(all, group, i + 1)) {
		const struct finding *f = &all->v[i];

		if (!f->gate || finding_direction(f) != FINDING_REGRESSION)
			continue;
		if (f->stands)
			return SIZE_MAX;
		if (at == SIZE_MAX || f->reverted > at)
			at = f->reverted;
	}
	return at;
}

/* Sets the metric, margin, class and waiver of a series. 'counted': all its
 * values are of counted runs. Returns false, and leaves nothing to free, if the
 * series is not to be shown. */
static bool
init_finding(struct finding *f, const struct branch *b,
    const struct branch_series *s, const struct finding_rules *r, bool counted,
    bool *exact)
{
	struct policy_answer a;
	bool shown, replaced;

	*f = (struct finding){.series = s,
	    .metric = metric_guess(s->metric),
	    .name = casename_of(b->names, s->config),
	    .pace = NAN,
	    .evidence = NAN,
	    .probability = NAN,
	    .stands = true,
	    .method = "levels"};
	if (counted)
		counted_make_exact(&f->metric);
	policy_find_answer(
	    r->policy, s->config, f->name, s->metric, r->today, &a);
	if (a.better >= 0)
		f->metric.better = (enum metric_better)a.better;
	f->margin = isnan(a.margin) ? f->metric.margin : a.margin;
	f->waiver = a.waiver;
	*exact = a.exact == 1 || f->metric.exact;
	/* Runs beside a reference are judged by their ratios to it. */
	replaced = reading_is_replaced(s->kase, s->metric);
	f->metric.gate = !replaced && metric_is_gate(&f->metric, s->config);
	shown = metric_is_shown(r->metrics, &f->metric, a.gate, &f->gate);
	if (replaced ||
	    (a.gate != 1 && f->metric.grows && metric_keys_differ(s->config)))
		f->gate = false;
	f->primary = a.primary && f->gate && !*exact;
	if (!shown)
		free(f->name);
	return shown;
}

/* Adds a copy of 'f', with a copy of the name. */
static struct finding *
add_finding(struct findings *all, const struct finding *f)
{
	all->v = mem_grow(all->v, all->n, &all->cap, sizeof *all->v);
	all->v[all->n] = *f;
	all->v[all->n].name = mem_str(f->name);
	return &all->v[all->n++];
}

/* Measures change i of c[0..n-1] in a series that ends at 'end' by the points
 * next to it; a spike at the very beginning by those after it. */
static void
measure_finding(struct finding *f, const double *v, size_t end,
    const struct changepoint *c, size_t n, size_t i)
{
	double *x = mem_array(end + 1, sizeof *x);
	double *y = mem_array(end + 1, sizeof *y);
	size_t nx = collect_points(v, c[i].from, c[i].at, c, n, x, NULL);
	size_t ny =
	    collect_points(v, c[i].at, c[i].to, c, c[i].spike ? 0 : n, y, NULL);
	size_t skip = nx > NEAR ? nx - NEAR : 0;

	for (size_t k = i; k < n && !nx; k++)
		if (!c[k].spike || k + 1 == n)
			nx = collect_points(v, c[i].to,
			    c[k].spike ? end : c[k].at, c, n, x, NULL);
	weigh_levels(f, x + skip, nx - skip, y, ny > NEAR ? NEAR : ny);
	f->kind = (enum finding_kind)verdict_direction(
	    f->metric.better, f->facts.change > 0);
	if (c[i].spike)
		f->kind = FINDING_SPIKE;
	free(x);
	free(y);
}

/* A change of a count is not one of the commit where the builds before it and
 * at it say how they were built, and differ. */
static void
set_rebuilt(
    struct finding *f, const struct branch *b, const double *v, size_t at)
{
	const struct json *now = json_get(b->points[at].subject, "build");
	const struct json *before = NULL;

	for (size_t i = at; i-- > 0 && !before;)
		if (!isnan(v[i]))
			before = json_get(b->points[i].subject, "build");
	f->rebuilt =
	    f->metric.exact && now && before && !json_equal(now, before);
	f->gate = f->gate && !f->rebuilt;
}

/* Is this level beyond the margin, in the direction of the change? */
static bool
stands_at(const struct finding *f, double now)
{
	double before = f->facts.median[0];

	if ((now > before) != (f->facts.median[1] > before))
		return false;
	return fmin(now, before) < fmax(now, before) * (1 - f->margin) ||
	    before <= 0;
}

/* Returns where the level of a finding begins; that of a trend is its last. */
static size_t
find_level_start(const struct finding *f)
{
	return f->kind == FINDING_TREND ? f->hi : f->at;
}

/* Closes each of the n findings of a series that a later level has
 * brought back: a still later one is another change, even to the same level. */
static void
close_findings(struct finding *v, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct finding *f = &v[i];

		f->stands = true;
		for (size_t k = 0; k < n; k++) {
			size_t from = find_level_start(&v[k]);

			if (v[k].kind == FINDING_SPIKE ||
			    from <= find_level_start(f) ||
			    (!f->stands && from >= f->reverted) ||
			    stands_at(f, v[k].facts.median[1]))
				continue;
			f->stands = false;
			f->reverted = from;
		}
	}
}

/* Sets what else changed with it, since one of the 'before' points. */
static void
find_setup(struct finding *f, const struct branch *b,
    const struct branch_values *s, size_t before)
{
	f->setup = find_change(b, s, f->series->machine, before, f->lo, f->hi);
	if (!f->setup)
		f->setup = find_neighbours(b, f->series, f->lo, f->hi, f->n,
		    metric_foreign_weight(&f->metric),
		    f->metric.instead_of                    ? 0
			: f->metric.better == METRIC_HIGHER ? -1
							    : 1,
		    log(f->facts.median[1] / f->facts.median[0]));
}

/* If the setup changed with it, the change is not one of the commit. */
static void
settle_setup(
    struct finding *f, const struct branch *b, const struct branch_values *s)
{
	if (f->kind == FINDING_SPIKE)
		return;
	find_setup(f, b, s, 1);
	if (f->setup && f->kind == FINDING_TREND)
		f->way = FINDING_DIFFERENT;
	else if (f->setup)
		f->kind = FINDING_DIFFERENT;
}

/* Adds the trends of all levels. */
static void
find_trends(struct findings *all, const struct branch *b,
    const struct finding *frame, const struct branch_values *s,
    const struct changepoint *c, size_t n, size_t since)
{
	const double *v = s->v;
	size_t npoints = b->npoints, from = 0;

	for (size_t i = 0; i <= n; i++) {
		struct finding f = *frame;
		bool found;

		if (i < n && c[i].spike)
			continue;
		found =
		    find_slope(&f, v, from, i < n ? c[i].at : npoints, c, n);
		from = i < n ? c[i].at : npoints;
		if (!found)
			continue;
		f.fresh = f.hi >= since;
		settle_setup(&f, b, s);
		add_finding(all, &f);
	}
}

static void
find_changes(struct findings *all, const struct branch *b,
    const struct finding *frame, const struct branch_values *s, bool exact,
    const struct finding_rules *r)
{
	const struct changepoint_rules rules = {
	    CHANGEPOINT_WINDOW, CHANGEPOINT_P, frame->margin, false};
	struct changepoint *c;
	size_t n, first = all->n;

	n = exact ? find_steps(s, b->npoints, frame->margin, &c)
		  : changepoint_find(s->v, b->npoints, &rules, &c);
	for (size_t i = 0; i < n; i++) {
		struct finding *f = add_finding(all, frame);

		f->at = c[i].at;
		f->lo = c[i].lo;
		f->hi = c[i].hi;
		f->n[0] = c[i].n[0];
		f->n[1] = c[i].n[1];
		if (exact || c[i].spike)
			f->method = exact ? "exact" : "spike";
		set_rebuilt(f, b, s->v, c[i].at);
		measure_finding(f, s->v, b->npoints, c, n, i);
		if (exact || c[i].spike)
			f->evidence = NAN;
		settle_setup(f, b, s);
		f->fresh = f->hi >= r->since;
	}
	if (!exact)
		find_trends(all, b, frame, s, c, n, r->since);
	close_findings(all->v + first, all->n - first);
	if (!exact && s->n < CHANGEPOINT_LEAST) {
		all->tooshort++;
		if (!all->shortest || s->n < all->shortest_points) {
			all->shortest = frame->series;
			all->shortest_points = s->n;
		}
	}
	free(c);
}

/* Keeps the runs of points lo..end. Where there are too few points before the
 * newest to tell how much they differ, those that share a session with another
 * are one. */
static void
keep_runs(struct finding *f, const struct branch *b,
    const struct branch_values *s, size_t lo, size_t end, size_t points)
{
	size_t k = 0;

	f->runs = mem_array(f->n[0] + f->n[1] + 1, sizeof *f->runs);
	f->sessions = mem_array(f->n[0] + f->n[1] + 1, sizeof *f->sessions);
	for (size_t i = lo; i <= end; i++) {
		size_t same = i;

		for (size_t j = lo; j < i && points < MODEL_SESSIONS; j++)
			if (same == i && b->points[i].session &&
			    b->points[j].session == b->points[i].session)
				same = j;
		for (size_t j = s->first[i]; j < s->first[i + 1]; j++, k++) {
			f->runs[k] = s->all[j];
			f->sessions[k] = (uint32_t)(same - lo);
		}
	}
}

/* Compares the newest point with the last ones before it that have values.
 * Returns 1 if it has values, -1 if only these have some, 0 if neither. */
static int
compare_newest(struct findings *all, const struct branch *b,
    const struct finding *frame, const struct branch_values *s, bool exact,
    const struct finding_rules *r)
{
	size_t end = b->npoints ? b->npoints - 1 : 0, lo = end, k = 0, m, n;
	const double *x, *y;
	struct finding *f;

	while (lo > 0 && k < r->latest)
		k += !isnan(s->v[--lo]);
	x = s->all + s->first[lo];
	y = s->all + s->first[end];
	m = s->first[end] - s->first[lo];
	n = s->first[end + (b->npoints > 0)] - s->first[end];
	if (n && m) {
		f = add_finding(all, frame);
		f->facts = exact ? verdict_measure_exact(x, m, y, n)
				 : verdict_start(x, m, y, n);
		if (f->metric.exact && isnan(f->facts.sd) &&
		    !verdict_is_spread(&f->facts))
			f->gate = false;
		f->method = "exact";
		set_rebuilt(f, b, s->v, end);
		f->at = f->hi = end;
		for (f->lo = end; f->lo > 0 && isnan(s->v[f->lo - 1]);)
			f->lo--;
		f->n[0] = m;
		f->n[1] = n;
		find_setup(f, b, s, r->latest);
		if (!exact)
			keep_runs(f, b, s, lo, end, k);
		f->fresh = end >= r->since;
	}
	return n ? 1 : m ? -1 : 0;
}

/* A series, what is known of it before it is judged, and its values. */
struct judged {
	const struct branch_series *series;
	struct finding frame;
	struct branch_values v;
	bool shown, exact;
};

/* Reads the series, if it is shown: whether a metric is exact may depend on its
 * values. */
static void
read_judged(struct judged *j, const struct branch *b,
    const struct branch_series *s, const struct finding_rules *r)
{
	const struct metric m = metric_guess(s->metric);

	*j = (struct judged){.series = s};
	if (counted_may_be(&m))
		branch_read_values(b, s, &j->v);
	j->shown = init_finding(&j->frame, b, s, r, j->v.counted, &j->exact);
	if (j->shown && !j->v.v)
		branch_read_values(b, s, &j->v);
}

#define BESIDE 10 /* points on each side of a change of a count */

/* Sets the points [*from, *to) of a series that are on the levels before and
 * after a change of another metric. Returns false if the series changes there
 * itself, or has points between them. */
static bool
find_levels(const struct findings *all, const struct judged *j,
    const struct finding *change, size_t npoints, size_t *from, size_t *to)
{
	const double *v = j->v.v;
	size_t first = 0, last = npoints, k = 0;

	for (size_t i = 0; i < all->n; i++) {
		const struct finding *f = &all->v[i];

		if (!is_same_metric(f->series, j->series))
			continue;
		if (f->lo <= change->hi && change->lo <= f->hi)
			return false;
		if (f->at > change->at && f->at < last)
			last = f->at;
		else if (f->at < change->at && f->hi > first)
			first = f->hi;
	}
	for (size_t i = change->lo; i < change->at; i++)
		if (!isnan(v[i]))
			return false;
	*from = *to = change->at;
	while (*from > first && k < BESIDE)
		k += !isnan(v[--*from]);
	for (k = 0; *to < last && k < BESIDE;)
		k += !isnan(v[(*to)++]);
	return true;
}

/* Returns the verdict on the runs of a series beside the change of a count. */
static enum verdict
judge_beside(const struct findings *all, const struct branch *b,
    struct judged *j, const struct finding *change)
{
	struct finding f = j->frame, *one = &f;
	const size_t *first = j->v.first;
	size_t from, to, points = 0;
	enum verdict v;

	if (!find_levels(all, j, change, b->npoints, &from, &to))
		return VERDICT_INCONCLUSIVE;
	f.n[0] = first[change->at] - first[from];
	f.n[1] = first[to] - first[change->at];
	if (f.n[0] < VERDICT_RUNS || f.n[1] < VERDICT_RUNS)
		return VERDICT_INSUFFICIENT;
	for (size_t i = from; i < change->at; i++)
		points += !isnan(j->v.v[i]);
	f.facts = verdict_start(j->v.all + first[from], f.n[0],
	    j->v.all + first[change->at], f.n[1]);
	keep_runs(&f, b, &j->v, from, to - 1, points);
	judge_sheet(&one, 1, b->reading->host);
	v = verdict_decide(&f.facts, f.metric.better, f.margin, CLAIM_NONE);
	free(f.runs);
	free(f.sessions);
	return v;
}

/* Do the times of the case, of all machines that have some, show that it is not
 * slower from the change of the count on? */
static bool
is_not_slower(const struct findings *all, const struct branch *b,
    const struct finding *change, const struct finding_rules *r)
{
	bool known = false, slower = false;

	for (size_t i = 0; i < b->nseries && !slower; i++) {
		const struct branch_series *s = &b->series[i];
		struct verdict_other by = {.name = s->metric, .time = true};
		struct judged j;

		if (s->kase != change->series->kase)
			continue;
		read_judged(&j, b, s, r);
		if (j.shown && j.frame.gate && !j.exact && j.v.n &&
		    (j.frame.primary || metric_is_time(s->metric, s->config))) {
			by.facts = &j.frame.facts;
			by.verdict = judge_beside(all, b, &j, change);
			known |= verdict_outweighs(
			    &by, change->metric.name, &change->facts);
			slower = by.verdict == VERDICT_INCONCLUSIVE;
		}
		branch_free_values(&j.v);
		if (j.shown)
			free(j.frame.name);
	}
	return known && !slower;
}

/* As judge_newest, for the findings of a history. */
static void
outweigh_history(
    struct findings *all, const struct branch *b, const struct finding_rules *r)
{
	enum verdict *v = mem_array(all->n + 1, sizeof *v);

	for (size_t i = 0; i < all->n; i++)
		v[i] = all->v[i].kind < FINDING_SPIKE
		    ? (enum verdict)all->v[i].kind
		    : VERDICT_INCONCLUSIVE;
	outweigh_findings(all, v);
	for (size_t i = 0; i < all->n; i++) {
		struct finding *f = &all->v[i];

		if (v[i] == VERDICT_REGRESSION && f->gate &&
		    verdict_is_slight(f->metric.name, &f->facts))
			f->outweighed = may_be_slight(all, v, f) &&
			    is_not_slower(all, b, f, r);
		if (f->outweighed)
			f->kind = FINDING_DIFFERENT;
	}
	free(v);
}

/* Judges the series of one case and metric, of which each machine has one. */
static void
judge_series(struct findings *all, const struct branch *b, struct judged *v,
    size_t n, const struct finding_rules *r, size_t tested[2])
{
	size_t missing = 0;
	bool newest = false;
	int has;

	for (size_t i = 0; i < n; i++) {
		struct judged *j = &v[i];

		all->others += j->v.others;
		if (!j->shown || !j->v.n)
			continue;
		all->series++;
		tested[j->frame.gate] +=
		    !j->exact && j->v.n >= CHANGEPOINT_LEAST;
		if (!r->latest) {
			find_changes(all, b, &j->frame, &j->v, j->exact, r);
			continue;
		}
		has = compare_newest(all, b, &j->frame, &j->v, j->exact, r);
		newest |= has > 0;
		missing += has < 0 && !j->frame.metric.instead_of;
	}
	if (!newest)
		all->absent += missing;
}

void
finding_find_all(
    struct findings *all, const struct branch *b, const struct finding_rules *r)
{
	struct judged *v = mem_array(b->machines + 1, sizeof *v);
	const struct json *config = NULL;
	size_t tested[2] = {0};

	*all = (struct findings){.machines = b->machines};
	for (size_t i = 0, n; i < b->nseries; i += n) {
		const struct branch_series *s = &b->series[i];
		size_t before = all->series;

		for (n = 0; i + n < b->nseries && s[n].kase == s->kase &&
		     s[n].column == s->column;
		     n++)
			read_judged(&v[n], b, &s[n], r);
		judge_series(all, b, v, n, r, tested);
		all->cases += all->series > before && s->config != config;
		config = all->series > before ? s->config : config;
		for (size_t k = 0; k < n; k++) {
			branch_free_values(&v[k].v);
			if (v[k].shown)
				free(v[k].frame.name);
		}
	}
	free(v);
	if (r->latest) {
		judge_newest(all, b->reading->host);
	} else {
		match_findings(all);
		claim_findings(all, tested);
	}
	for (size_t i = 0; i < all->n; i++)
		all->v[i].waived =
		    policy_waives(&all->v[i].waiver, all->v[i].facts.ratio);
	join_machines(all, b, r);
	if (!r->latest)
		outweigh_history(all, b, r);
	group_findings(all);
	set_group_keys(all, b, r->latest > 0);
}

void
finding_free(struct findings *all)
{
	for (size_t i = 0; i < all->n; i++)
		drop_finding(&all->v[i]);
	free(all->v);
	free(all->groups);
	*all = (struct findings){0};
}

size_t
finding_find_next(const struct findings *all, size_t group, size_t from)
{
	while (from < all->n && all->v[from].group != group)
		from++;
	return from;
}
