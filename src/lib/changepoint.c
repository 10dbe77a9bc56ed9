#include "changepoint.h"
#include "energy.h"
#include "mem.h"
#include "outlier.h"
#include "stats.h"
#include "tdist.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define CHANCE .01 /* highest p of a change in permutations */
#define REACH 100  /* points of each side that are permuted */
#define OUTLIER 5  /* modified z of a spike */
#define SPIKE .001 /* level of the test of all points of a level */

/* One level: points x[from..from+n-1]. */
struct level {
	size_t from, n;
	double mean, m2; /* sum of (x - mean)^2 */
	/* The change at its start: */
	double p;
	size_t lo, hi;      /* where it may be */
	size_t first, last; /* points it was tested with, last >= 1 */
	size_t seen[2];     /* points of its two sides when Otava tested it */
};

struct series {
	const struct changepoint_rules *rules;
	double *x;  /* without the missing ones */
	size_t *at; /* index of each point in the input */
	size_t n;
	struct level *levels; /* one more than changes */
	size_t nlevels, cap;
};

static struct level
measure_level(const double *x, size_t from, size_t to)
{
	struct level l = {.from = from, .n = to - from};

	l.m2 = stats_squares(x + from, l.n, &l.mean);
	return l;
}

/* Chan, Golub & LeVeque, American Statistician 37 (1983). */
static struct level
merge_levels(const struct level *a, const struct level *b)
{
	double n = (double)(a->n + b->n), d = b->mean - a->mean;
	struct level l = *a;

	l.n += b->n;
	l.mean += d * (double)b->n / n;
	l.m2 += b->m2 + d * d * (double)a->n * (double)b->n / n;
	return l;
}

/* Returns p of Student's t test. Otava uses variances of populations. */
static double
compute_t_test_p(const struct level *a, const struct level *b, bool otava)
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

static double
compute_magnitude(const struct level *a, const struct level *b)
{
	if (a->mean == b->mean)
		return 0;
	return fmax(fabs(b->mean / a->mean - 1), fabs(a->mean / b->mean - 1));
}

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
	s->levels = mem_grow(s->levels, s->nlevels, &s->cap, sizeof *s->levels);
	s->levels[s->nlevels++] = (struct level){.from = from};
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
		a = measure_level(x, best->from, best->tau);
		b = measure_level(x, best->tau, best->to);
		if (!(compute_t_test_p(&a, &b, s->rules->otava) <= p))
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
		s->levels[i] = measure_level(s->x, s->levels[i].from,
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
		    merge_levels(&s->levels[worst - 1], &s->levels[worst]);
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
	double size = compute_magnitude(a, b),
	       p = compute_t_test_p(a, b, s->rules->otava);

	if (s->rules->otava) {
		b->p = p;
		b->seen[0] = a->n;
		b->seen[1] = b->n;
	}
	if (p >= s->rules->p)
		return 1 + p;
	return size <= s->rules->magnitude ? 1 / (1 + size) : -1;
}

/* Returns the sum of squares that a parabola leaves of n points. */
static double
compute_parabola_rss(const double *x, size_t n, double mean, double m2)
{
	double c = (double)(n - 1) / 2, bend = ((double)n * (double)n - 1) / 12;
	double sxt = 0, stt = 0, sxp = 0, spp = 0;

	for (size_t i = 0; i < n; i++) {
		double t = (double)i - c, p = t * t - bend, d = x[i] - mean;

		sxt += d * t;
		stt += t * t;
		sxp += d * p;
		spp += p * p;
	}
	return fmax(0, m2 - sxt * sxt / stt - sxp * sxp / spp);
}

static double
weigh_by_trend(struct series *s, size_t i)
{
	const struct level *a = &s->levels[i - 1], *b = &s->levels[i];
	struct level both = merge_levels(a, b);
	double steps = a->m2 + b->m2, rss;

	if (both.n < 4) /* a parabola fits any 3 points */
		return -1;
	rss =
	    compute_parabola_rss(s->x + both.from, both.n, both.mean, both.m2);
	if (steps < rss)
		return -1;
	return rss > 0 ? steps / rss : INFINITY;
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
		b->lo = first + d.lo;
		b->hi = first + d.hi;
		b->first = first;
		b->last = last;
	}
	return b->p > CHANCE ? 2 + b->p : weigh_by_t_test(s, i);
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
}

/* Marks the points of levels that are too short. */
static void
mark_short_levels(const struct series *s, bool *out)
{
	for (size_t i = 0; i < s->nlevels && s->nlevels > 1; i++)
		if (s->levels[i].n < CHANGEPOINT_LEVEL)
			for (size_t k = 0; k < s->levels[i].n; k++)
				out[s->levels[i].from + k] = true;
}

/* Is another marked point on the same side of the middle so near that both
 * could be of one level? */
static bool
has_company(const double *x, const bool *out, size_t n, size_t i, double middle)
{
	size_t from = i < CHANGEPOINT_LEVEL ? 0 : i - CHANGEPOINT_LEVEL + 1;

	for (size_t k = from; k < n && k < i + CHANGEPOINT_LEVEL; k++)
		if (k != i && out[k] && (x[k] > middle) == (x[i] > middle))
			return true;
	return false;
}

/* Unmarks outliers with company if there are others: without the others, what
 * they hide may be a level. */
static void
keep_lone_outliers(const double *x, bool *out, size_t n, double middle)
{
	bool *lone = mem_array(n, sizeof *lone), any = false;

	for (size_t i = 0; i < n; i++) {
		lone[i] = out[i] && !has_company(x, out, n, i, middle);
		any = any || lone[i];
	}
	if (any)
		memcpy(out, lone, n * sizeof *out);
	free(lone);
}

/* Marks the outliers of a level; 'sorted' and 'far' are scratch space. */
static void
mark_level_outliers(const struct series *s, const struct level *l,
    double *sorted, struct outlier *far, bool *out)
{
	const double *x = s->x + l->from;
	size_t suspects = 0, most = l->n / 10 ? l->n / 10 : 1, n;
	struct level middle = {0};
	double mad;

	memcpy(sorted, x, l->n * sizeof *sorted);
	stats_sort(sorted, l->n);
	middle.mean = stats_median(sorted, l->n);
	mad = stats_mad(sorted, l->n);
	for (size_t i = 0; i < l->n; i++)
		suspects += stats_modified_z(x[i], middle.mean, mad) > OUTLIER;
	if (!suspects)
		return;
	/* More would be ambiguous: either half of a level could be far off. */
	most = suspects < most ? suspects : most;
	n = outlier_gesd(x, l->n, most, SPIKE, far, &suspects);
	for (size_t i = 0; i < n; i++) {
		struct level one = {.mean = x[far[i].at]};

		if (stats_modified_z(one.mean, middle.mean, mad) > OUTLIER &&
		    compute_magnitude(&middle, &one) > s->rules->magnitude)
			out[l->from + far[i].at] = true;
	}
	keep_lone_outliers(x, out + l->from, l->n, middle.mean);
}

static void
mark_outliers(const struct series *s, bool *out)
{
	double *sorted = mem_array(s->n, sizeof *sorted);
	struct outlier *far = mem_array(s->n, sizeof *far);

	for (size_t i = 0; i < s->nlevels; i++)
		mark_level_outliers(s, &s->levels[i], sorted, far, out);
	free(sorted);
	free(far);
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
			if (out[i] && last - first + 1 < CHANGEPOINT_LEVEL) {
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
	bool *out = mem_array(s->n, sizeof *out);

	do {
		memset(out, 0, s->n * sizeof *out);
		find_levels(s);
		mark_short_levels(s, out);
		mark_outliers(s, out);
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
	struct level own = measure_level(v, at, to);

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
	    .p = compute_t_test_p(l, &own, false),
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
