#include "changepoint.h"
#include "energy.h"
#include "mem.h"
#include "spike.h"
#include "stats.h"
#include "tdist.h"
#include "trend.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* A level of a series: the points x[from..from+n-1] with a mean of their own.
 */
struct level {
	size_t from, n;
	double mean, m2; /* sum of (x - mean)^2 */
	/* The change at its start: */
	double p;
	size_t lo, hi;      /* where it may be */
	size_t first, last; /* points it was tested with, last >= 1 */
	bool rare;          /* p is that of spike_test_stretch */
	size_t seen[2];     /* points of its two sides when Otava tested it */
};

/* Returns the level of the points from..to-1. */
static struct level
level_measure(const double *x, size_t from, size_t to)
{
	struct level l = {.from = from, .n = to - from};

	l.m2 = stats_squares(x + from, l.n, &l.mean);
	return l;
}

/*
 * Two neighbours as one level: Chan, Golub & LeVeque, American Statistician 37
 * (1983). All but from, n, mean and m2 is that of 'a'.
 */
static struct level
level_merge(const struct level *a, const struct level *b)
{
	double n = (double)(a->n + b->n), d = b->mean - a->mean;
	struct level l = *a;

	l.n += b->n;
	l.mean += d * (double)b->n / n;
	l.m2 += b->m2 + d * d * (double)a->n * (double)b->n / n;
	return l;
}

/*
 * Returns p of Student's t test that both have the same mean; 1 if they have
 * too few points. Apache Otava uses the variances of populations.
 */
static double
level_p(const struct level *a, const struct level *b, bool otava)
{
	double m = (double)a->n, n = (double)b->n, df = m + n - 2;
	double ss =
	    otava ? a->m2 * (m - 1) / m + b->m2 * (n - 1) / n : a->m2 + b->m2;
	double d = fabs(b->mean - a->mean), se;

	if (df < 1)
		return 1;
	se = sqrt(ss / df * (1 / m + 1 / n));
	return se > 0 ? 2 * tdist_sf(d / se, df) : d == 0;
}

/* Returns how large the step is, as spike_size() defines it. */
static double
level_size(const struct level *a, const struct level *b)
{
	return spike_size(a->mean, b->mean);
}

#define CHANCE .01 /* highest p of a change in permutations */
#define REACH 100  /* points of each side that are tested */
#define FEW 10     /* a side of so many points has few permutations */
#define RARE .0001 /* highest p of the t test of such a side */

struct series {
	const struct changepoint_rules *rules;
	double *x;  /* without the missing ones */
	size_t *at; /* index of each point in the input */
	size_t n;
	struct level *levels; /* one more than changes */
	size_t nlevels, cap;
};

struct interval {
	size_t from, to; /* in the window */
	size_t tau;      /* best point to divide at, or 0 */
	double q;
};

struct window {
	size_t n;
	double *g, *inv;
	struct interval *v;
	size_t nv;
};

/* Finds the largest Q; the first of equal ones by tau, then kappa. */
static void
find_best_division(const struct window *w, struct interval *v)
{
	size_t stride = w->n + 1;
	const double *row = w->g + v->from * stride;
	double ties = 1e-12 * row[v->to] * w->inv[v->to - v->from];

	v->tau = 0;
	v->q = -INFINITY;
	for (size_t t = v->from + 1; t < v->to; t++)
		for (size_t k = t + 1; k <= v->to; k++) {
			double q = energy_q(w->inv, t - v->from, k - t, row[t],
			    w->g[t * stride + k], row[k]);

			if (q > v->q + ties || !v->tau) {
				v->q = q;
				v->tau = t;
			}
		}
}

static void
add_level(struct series *s, size_t from)
{
	*MEM_ADD(s->levels, s->nlevels, s->cap) = (struct level){.from = from};
}

/* Divides a window while the t test agrees. Returns its last change, or 0. */
static size_t
divide_window(struct series *s, size_t from, struct window *w, double p)
{
	const double *x = s->x + from;

	energy_sums(x, w->n, w->g);
	w->nv = 1;
	w->v[0] = (struct interval){0, w->n, 0, 0};
	find_best_division(w, &w->v[0]);
	for (;;) {
		struct interval *best = w->v, right;
		struct level a, b;

		for (size_t i = 1; i < w->nv; i++)
			if (w->v[i].q > best->q)
				best = &w->v[i];
		if (!best->tau)
			break;
		a = level_measure(x, best->from, best->tau);
		b = level_measure(x, best->tau, best->to);
		if (!(level_p(&a, &b, s->rules->otava) <= p))
			break;
		right = (struct interval){best->tau, best->to, 0, 0};
		best->to = best->tau;
		find_best_division(w, best);
		find_best_division(w, &right);
		memmove(best + 2, best + 1,
		    (size_t)(w->v + w->nv - best - 1) * sizeof *best);
		best[1] = right;
		w->nv++;
	}
	for (size_t i = 1; i < w->nv; i++)
		add_level(s, from + w->v[i].from);
	return w->nv > 1 ? from + w->v[w->nv - 1].from : 0;
}

/* Finds levels in windows that overlap, with a weaker test. */
static void
find_candidates(struct series *s)
{
	size_t size = s->rules->window, start = 0, last;
	double p = s->rules->p;
	struct window w = {0};

	if (size > s->n)
		size = s->n;
	w.g = mem_array((size + 1) * (size + 1), sizeof *w.g);
	w.inv = energy_inverses(size);
	w.v = mem_array(size + 1, sizeof *w.v);
	p = p < .05 ? 10 * p : p < .5 ? 2 * p : p;
	s->nlevels = 0;
	add_level(s, 0);
	while (start < s->n) {
		w.n = s->n - start < size ? s->n - start : size;
		last = divide_window(s, start, &w, p);
		start += s->rules->window / 2;
		start = last > start ? last : start;
	}
	free(w.g);
	free(w.inv);
	free(w.v);
	for (size_t i = 0; i < s->nlevels; i++)
		s->levels[i] = level_measure(s->x, s->levels[i].from,
		    i + 1 < s->nlevels ? s->levels[i + 1].from : s->n);
}

/* Returns how weak the change before level i is; below 0: strong enough. */
typedef double weakness(struct series *, size_t i);

/* Drops the weakest change while it is too weak, and weighs the changes before
 * and after it again. Otava weighs the two after it instead. */
static void
drop_weak_changes(struct series *s, weakness *of)
{
	double *weak = mem_array(s->nlevels + 1, sizeof *weak);

	for (size_t i = 1; i < s->nlevels; i++)
		weak[i] = of(s, i);
	while (s->nlevels > 1) {
		size_t worst = 1, rest, first, last;

		for (size_t i = 2; i < s->nlevels; i++)
			if (weak[i] > weak[worst])
				worst = i;
		if (weak[worst] < 0)
			break;
		rest = --s->nlevels - worst;
		s->levels[worst - 1] =
		    level_merge(&s->levels[worst - 1], &s->levels[worst]);
		memmove(&s->levels[worst], &s->levels[worst + 1],
		    rest * sizeof *s->levels);
		memmove(&weak[worst], &weak[worst + 1], rest * sizeof *weak);
		first = worst > 1 && !s->rules->otava ? worst - 1 : worst;
		last = s->rules->otava ? worst + 1 : worst;
		for (size_t i = first; i <= last && i < s->nlevels; i++)
			weak[i] = of(s, i);
	}
	free(weak);
}

/* Otava's rule: weak by p; if p passes, weak by size. */
static double
weigh_by_t_test(struct series *s, size_t i)
{
	const struct level *a = &s->levels[i - 1];
	struct level *b = &s->levels[i];
	double size = level_size(a, b), p = level_p(a, b, s->rules->otava);

	if (s->rules->otava) {
		b->p = p;
		b->seen[0] = a->n;
		b->seen[1] = b->n;
	}
	if (p >= s->rules->p)
		return 1 + p;
	return size <= s->rules->magnitude ? 1 / (1 + size) : -1;
}

static double
weigh_by_trend(struct series *s, size_t i)
{
	const struct level *a = &s->levels[i - 1], *b = &s->levels[i];
	struct level both = level_merge(a, b);
	double steps = a->m2 + b->m2, rss;

	if (both.n < 4) /* a parabola fits any 3 points */
		return -1;
	rss = trend_bend(s->x + both.from, both.n, both.mean, both.m2);
	if (steps < rss)
		return -1;
	return rss > 0 ? steps / rss : INFINITY;
}

/* Replaces p of the permutations if the t test is certain. */
static void
test_few_points(const struct series *s, struct level *b)
{
	double p = spike_test_stretch(
	    s->x + b->first, b->last - b->first, b->from - b->first);

	if (p >= RARE)
		return;
	b->p = p;
	b->rare = true;
}

static double
weigh_by_chance(struct series *s, size_t i)
{
	const struct level *a = &s->levels[i - 1];
	struct level *b = &s->levels[i];
	size_t first = b->from - (a->n < REACH ? a->n : REACH);
	size_t last = b->from + (b->n < REACH ? b->n : REACH);
	struct energy_split d;

	if (b->first != first || b->last != last) {
		d = energy_test_split(
		    s->x + first, last - first, b->from - first, CHANCE);
		b->p = d.p;
		b->rare = false;
		b->lo = first + d.lo;
		b->hi = first + d.hi;
		b->first = first;
		b->last = last;
		if (d.p > CHANCE && s->n >= CHANGEPOINT_LEAST &&
		    (a->n <= FEW || b->n <= FEW))
			test_few_points(s, b);
	}
	return !b->rare && b->p > CHANCE ? 2 + b->p : weigh_by_t_test(s, i);
}

/* Is a slope over the levels i..k as good as their steps, by the criterion of
 * Akaike (1974)? A slope has 4 parameters, a step 2, and one is the level. */
static bool
is_slope(const struct series *s, size_t i, size_t k)
{
	size_t from = s->levels[i].from;
	size_t n = s->levels[k].from + s->levels[k].n - from;
	double steps = 0, more = 2 * (double)(k - i) + 1 - 4;
	struct trend t;

	for (size_t j = i; j <= k; j++)
		steps += s->levels[j].m2;
	return trend_find(s->x + from, n, &t) &&
	    t.rss <= steps * exp(2 * more / (double)n);
}

/* Joins levels that rise, or fall, several times in a row if a slope fits them
 * as well. */
static void
drop_stairs(struct series *s)
{
	size_t kept = 0, k;

	for (size_t i = 0; i < s->nlevels; i = k + 1) {
		const struct level *l = s->levels + i;
		struct level joined = *l;

		for (k = 0; i + k + 1 < s->nlevels &&
		     (l[k + 1].mean > l[k].mean) == (l[1].mean > l->mean);)
			k++;
		k = k > 0 && is_slope(s, i, i + k) ? i + k : i;
		for (size_t j = i + 1; j <= k; j++)
			joined = level_merge(&joined, &s->levels[j]);
		s->levels[kept++] = joined;
	}
	s->nlevels = kept;
}

static void
find_levels(struct series *s)
{
	find_candidates(s);
	drop_weak_changes(s, weigh_by_t_test);
	if (s->rules->otava)
		return;
	drop_weak_changes(s, weigh_by_trend);
	drop_weak_changes(s, weigh_by_chance);
	drop_stairs(s);
}

/* Marks the points of levels that are too short. */
static void
mark_short_levels(const struct series *s, bool *out)
{
	for (size_t i = 0; i < s->nlevels && s->nlevels > 1; i++)
		if (s->levels[i].n < SPIKE_POINTS)
			for (size_t k = 0; k < s->levels[i].n; k++)
				out[s->levels[i].from + k] = true;
}

/* Returns the level of point i. */
static const struct level *
find_level(const struct series *s, size_t i)
{
	const struct level *l = s->levels, *end = l + s->nlevels;

	while (l + 1 < end && l[1].from <= i)
		l++;
	return l;
}

/*
 * A spike makes a level vary so much that a step of the same size is not seen,
 * and the step hides the spike. So looks for levels without the points that
 * stand out from those around them, of which 'reach' are on each side; if there
 * are more levels, marks those of the points that are beyond them.
 */
static bool
mark_hiding_spikes(const struct series *s, size_t reach, bool *out)
{
	struct series rest = {.rules = s->rules};
	bool *suspects = mem_array(s->n, sizeof *suspects), found = false;

	if (!spike_suspect(s->x, s->n, reach, suspects))
		goto out;
	rest.x = mem_array(s->n, sizeof *rest.x);
	for (size_t i = 0; i < s->n; i++)
		if (!suspects[i])
			rest.x[rest.n++] = s->x[i];
	if (rest.n)
		find_levels(&rest);
	for (size_t i = 0, k = 0; i < s->n && rest.nlevels > s->nlevels; i++) {
		const struct level *l = find_level(&rest, k);

		k += !suspects[i];
		out[i] = suspects[i] &&
		    spike_is_beyond(
			rest.x + l->from, l->n, s->x[i], s->rules->magnitude);
		found |= out[i];
	}
	free(rest.x);
	free(rest.levels);
out:
	free(suspects);
	return found;
}

/* Returns whether a point is marked. */
static bool
mark_spikes(const struct series *s, bool *out)
{
	memset(out, 0, s->n * sizeof *out);
	mark_short_levels(s, out);
	for (size_t i = 0; i < s->nlevels; i++)
		spike_mark(s->x + s->levels[i].from, s->levels[i].n,
		    s->rules->magnitude, out + s->levels[i].from);
	return memchr(out, 1, s->n * sizeof *out);
}

/* Removes marked points from the series and adds them to the spikes, unless a
 * run of spikes would be as long as a level. Returns how many it removed. */
static size_t
remove_marked(struct series *s, const bool *out, bool *spikes)
{
	size_t kept = 0, run;

	for (size_t i = 0; i < s->n; i += run) {
		size_t first = s->at[i], last = first;

		for (run = 1; i + run < s->n && out[i] && out[i + run];)
			run++;
		last = s->at[i + run - 1];
		while (first > 0 && spikes[first - 1])
			first--;
		while (spikes[last + 1])
			last++;
		for (size_t k = i; k < i + run; k++) {
			if (out[i] && last - first + 1 < SPIKE_POINTS) {
				spikes[s->at[k]] = true;
				continue;
			}
			s->x[kept] = s->x[k];
			s->at[kept++] = s->at[k];
		}
	}
	run = s->n - kept;
	s->n = kept;
	return run;
}

static void
find_spikes(struct series *s, bool *spikes)
{
	bool *out = mem_array(s->n, sizeof *out), found;

	do {
		find_levels(s);
		found = mark_spikes(s, out);
		for (size_t reach = 1; reach < SPIKE_POINTS && !found; reach++)
			found = mark_hiding_spikes(s, reach, out);
	} while (remove_marked(s, out, spikes));
	free(out);
}

static struct changepoint
describe_change(const struct series *s, size_t i, size_t end)
{
	const struct level *a = &s->levels[i - 1], *b = &s->levels[i];
	struct changepoint c = {.at = s->at[b->from], .from = s->at[a->from]};

	c.to = i + 1 < s->nlevels ? s->at[b->from + b->n] : end;
	c.lo = c.hi = c.at;
	c.p = b->p;
	c.t = s->rules->otava || b->rare;
	c.n[0] = s->rules->otava ? b->seen[0] : a->n;
	c.n[1] = s->rules->otava ? b->seen[1] : b->n;
	if (!s->rules->otava) {
		/* A missing point before it may be the first of the level. */
		c.lo = s->at[b->lo - 1] + 1;
		c.hi = s->at[b->hi];
	}
	return c;
}

/* Describes the points v[at..to-1] as a spike of the level around them.
 * Returns false if they lie between that level and the next one. */
static bool
describe_spike(const struct series *s, const double *v, size_t at, size_t to,
    struct changepoint *c)
{
	const struct level *l = s->levels, *end = l + s->nlevels;
	struct level own = level_measure(v, at, to);

	while (l + 1 < end && s->at[l[1].from] < at)
		l++;
	if (l + 1 < end && s->at[l[1].from - 1] < at &&
	    (own.mean - l->mean) * (own.mean - l[1].mean) < 0)
		return false;
	*c = (struct changepoint){.at = at,
	    .from = s->at[l->from],
	    .to = to,
	    .lo = at,
	    .hi = at,
	    .n = {l->n, own.n},
	    .p = level_p(l, &own, false),
	    .t = true,
	    .spike = true};
	return true;
}

size_t
changepoint_find(const double *v, size_t n,
    const struct changepoint_rules *rules, struct changepoint **found)
{
	struct series s = {.rules = rules};
	bool *spikes = mem_array(n + 2, sizeof *spikes);
	size_t k = 0, level = 1;

	*found = NULL;
	s.x = mem_array(n + 1, sizeof *s.x);
	s.at = mem_array(n + 1, sizeof *s.at);
	for (size_t i = 0; i < n; i++)
		if (isfinite(v[i])) {
			s.x[s.n] = v[i];
			s.at[s.n++] = i;
		}
	if (s.n && rules->otava)
		find_levels(&s);
	else if (s.n)
		find_spikes(&s, spikes);
	*found = mem_array(n + 1, sizeof **found);
	for (size_t i = 0, to; i < n && s.n; i = to) {
		for (to = i + 1; spikes[i] && spikes[to];)
			to++;
		if (spikes[i])
			k += describe_spike(&s, v, i, to, &(*found)[k]);
		else if (level < s.nlevels && s.at[s.levels[level].from] == i)
			(*found)[k++] = describe_change(&s, level++, n);
	}
	free(s.x);
	free(s.at);
	free(s.levels);
	free(spikes);
	return k;
}
