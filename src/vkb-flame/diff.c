#include "diff.h"
#include "calltree.h"
#include "mem.h"
#include "stats.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static double
sum_range(const double *v, size_t from, size_t to)
{
	double s = 0;

	for (size_t i = from; i < to; i++)
		s += v[i];
	return s;
}

static double
test_by_samples(const double *part, const double *whole, size_t na, size_t n)
{
	double a = sum_range(part, 0, na), all_a = sum_range(whole, 0, na);
	double b = sum_range(part, na, n), all_b = sum_range(whole, na, n);
	double p, se;

	if (all_a <= 0 || all_b <= 0)
		return NAN;
	p = (a + b) / (all_a + all_b);
	se = sqrt(fmax(p * (1 - p), 0) * (1 / all_a + 1 / all_b));
	return se > 0 ? erfc(fabs(b / all_b - a / all_a) / se / sqrt(2)) : 1;
}

static double
test_by_profiles(const double *part, const double *whole, size_t na, size_t n)
{
	double *share = mem_array(n, sizeof *share), p;

	for (size_t i = 0; i < n; i++)
		share[i] = whole[i] > 0 ? part[i] / whole[i] : 0;
	p = stats_welch(share, na, share + na, n - na, .95).p;
	free(share);
	return p;
}

double
diff_test(const double *part, const double *whole, size_t na, size_t n)
{
	if (sum_range(part, 0, n) < DIFF_FEWEST)
		return NAN;
	if (na >= 2 && n - na >= 2)
		return test_by_profiles(part, whole, na, n);
	return test_by_samples(part, whole, na, n);
}

void
diff_adjust(double *p, size_t n)
{
	double *tested = mem_array(n + 1, sizeof *tested), least = 1;
	size_t *at = mem_array(n + 1, sizeof *at), k = 0, *order;

	for (size_t i = 0; i < n; i++)
		if (!isnan(p[i])) {
			at[k] = i;
			tested[k++] = p[i];
		}
	order = stats_order(tested, k);
	for (size_t i = k; i-- > 0;) {
		double v = tested[order[i]] * (double)k / (double)(i + 1);

		p[at[order[i]]] = least = fmin(least, v);
	}
	free(order);
	free(at);
	free(tested);
}

/* --- frames of a tree */

struct sides {
	const struct calltree *t;
	size_t na, n;
	double *part, *whole; /* scratch space for n each */
};

/* Writes the samples of each profile in 'node', except those in 'without'. */
static void
collect_samples(
    const struct sides *s, double *to, uint32_t node, uint32_t without)
{
	for (size_t i = 0; i < s->n; i++) {
		const double *v = s->t->total[2 * i + 1];

		to[i] = v[node] - (without ? v[without] : 0);
	}
}

static double
test_share(const struct sides *s, uint32_t node, uint32_t of, uint32_t without)
{
	collect_samples(s, s->part, node, 0);
	collect_samples(s, s->whole, of, without);
	return diff_test(s->part, s->whole, s->na, s->n);
}

static bool
is_different(const struct diff_frame *f)
{
	return !isnan(f->p) && f->p < DIFF_ALPHA;
}

/* Returns the sibling that offsets the change of 'node', or 0. */
static uint32_t
find_offset(const struct sides *s, const struct diff *d, uint32_t node)
{
	const struct calltree *t = s->t;
	uint32_t parent = t->parent[node], best = 0;
	double change = d->v[node].b - d->v[node].a, most = fabs(change) / 2;

	for (uint32_t i = t->child[parent]; i; i = t->next[i]) {
		double c = d->v[i].b - d->v[i].a;

		if (i == node || c * change >= 0 || fabs(c) < most)
			continue;
		if (!(test_share(s, i, parent, node) < DIFF_ALPHA))
			continue;
		most = fabs(c);
		best = i;
	}
	return best;
}

static void
classify_frame(const struct sides *s, struct diff *d, uint32_t i)
{
	struct diff_frame *f = &d->v[i];
	const struct diff_frame *up = &d->v[s->t->parent[i]];

	if (!is_different(f)) {
		f->kind = isnan(f->p) ? DIFF_RARE : DIFF_SAME;
		return;
	}
	f->kind = DIFF_CHANGED;
	if (up->kind == DIFF_MOVED && (up->b - up->a) * (f->b - f->a) > 0)
		f->with = up->with;
	else if (!s->t->parent[i] || !is_different(up))
		f->with = find_offset(s, d, i);
	if (f->with)
		f->kind = DIFF_MOVED;
}

static double *
sum_columns(const struct calltree *t, double **columns, size_t from, size_t to)
{
	double *v = mem_array(t->n, sizeof *v);

	for (size_t k = from; k < to; k++)
		for (uint32_t i = 0; i < t->n; i++)
			v[i] += columns[2 * k][i];
	return v;
}

struct diff *
diff_new(const struct calltree *t, size_t na, size_t n)
{
	struct diff *d = mem_new(sizeof *d);
	struct sides s = {.t = t, .na = na, .n = n};
	double *a = sum_columns(t, t->total, 0, na), *p;
	double *b = sum_columns(t, t->total, na, n);

	s.part = mem_array(n, sizeof *s.part);
	s.whole = mem_array(n, sizeof *s.whole);
	d->self[0] = sum_columns(t, t->self, 0, na);
	d->self[1] = sum_columns(t, t->self, na, n);
	d->v = mem_array(t->n, sizeof *d->v);
	d->width = mem_array(t->n, sizeof *d->width);
	p = mem_array(t->n, sizeof *p);
	p[0] = NAN;
	for (uint32_t i = 1; i < t->n; i++)
		p[i] = test_share(&s, i, 0, 0);
	diff_adjust(p, t->n);
	for (uint32_t i = 0; i < t->n; i++) {
		d->v[i].a = a[0] > 0 ? a[i] / a[0] : 0;
		d->v[i].b = b[0] > 0 ? b[i] / b[0] : 0;
		d->v[i].p = p[i];
		d->width[i] = (d->v[i].a + d->v[i].b) / 2;
	}
	for (uint32_t i = 1; i < t->n; i++)
		classify_frame(&s, d, i);
	free(a);
	free(b);
	free(p);
	free(s.part);
	free(s.whole);
	return d;
}

struct diff *
diff_new_exact(
    const struct calltree *t, size_t before, size_t after, const char *unit)
{
	struct diff *d = mem_new(sizeof *d);
	double all;

	d->unit = unit;
	d->v = mem_array(t->n, sizeof *d->v);
	d->width = mem_array(t->n, sizeof *d->width);
	for (size_t i = 0; i < 2; i++) {
		d->self[i] = mem_array(t->n, sizeof *d->self[i]);
		memcpy(d->self[i], t->self[i ? after : before],
		    t->n * sizeof *d->self[i]);
	}
	all = fmax(t->total[before][0], t->total[after][0]);
	for (uint32_t i = 0; i < t->n; i++) {
		struct diff_frame *f = &d->v[i];

		f->a = t->total[before][i];
		f->b = t->total[after][i];
		f->p = NAN;
		f->kind = fabs(f->b - f->a) < DIFF_EXACT * all ? DIFF_SAME
							       : DIFF_CHANGED;
		d->width[i] = (f->a + f->b) / 2;
	}
	return d;
}

void
diff_free(struct diff *d)
{
	if (!d)
		return;
	free(d->v);
	free(d->width);
	free(d->self[0]);
	free(d->self[1]);
	free(d);
}
