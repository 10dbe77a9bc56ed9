#include "ranktest.h"
#include "mem.h"
#include "stats.h"
#include "tdist.h"

#include <math.h>
#include <stdlib.h>

enum {
	EXACT_PRODUCT = 2500, /* m n, no ties */
	EXACT_TIED = 30,      /* of either side */
	EXACT_SIGNED = 100,
	LAID_OUT = 1 << 20
};

struct item {
	double value;
	bool second; /* a value of y, or a positive difference */
};

/* A group of equal values. Ranks are doubled, so that midranks are whole. */
struct group {
	size_t size;
	size_t rank2;
};

struct ranking {
	struct group *groups;
	size_t n;
	size_t sum2; /* doubled ranks of those with 'second' */
	bool ties;
};

static int
compare_items_by_value(const void *a, const void *b)
{
	const struct item *x = a, *y = b;

	return (x->value > y->value) - (x->value < y->value);
}

/* Sorts and ranks 'v'. Caller frees .groups. */
static struct ranking
rank_all(struct item *v, size_t n)
{
	struct ranking r = {.groups = mem_array(n + 1, sizeof *r.groups)};

	qsort(v, n, sizeof *v, compare_items_by_value);
	for (size_t i = 0, j; i < n; i = j) {
		struct group *g = &r.groups[r.n++];

		for (j = i + 1; j < n && v[j].value == v[i].value; j++)
			;
		g->size = j - i;
		g->rank2 = i + 1 + j;
		r.ties |= g->size > 1;
		for (size_t k = i; k < j; k++)
			r.sum2 += v[k].second ? g->rank2 : 0;
	}
	return r;
}

/*
 * Sets p and p_min of 'seen', given how often each value 0..n of the statistic
 * occurs. The middle of the distribution is 'middle2' / 2.
 */
static void
compute_tails(struct ranktest *t, const double *count, size_t n, size_t seen,
    size_t middle2)
{
	double all = 0, far = 0, least = 0;
	size_t farthest = 0;
	size_t off =
	    2 * seen > middle2 ? 2 * seen - middle2 : middle2 - 2 * seen;

	for (size_t s = 0; s <= n; s++) {
		size_t d = 2 * s > middle2 ? 2 * s - middle2 : middle2 - 2 * s;

		all += count[s];
		far += d >= off ? count[s] : 0;
		if (count[s] > 0 && d >= farthest) {
			least = d > farthest ? count[s] : least + count[s];
			farthest = d;
		}
	}
	t->p_min = least / all;
	t->p = far / all;
}

/* Counts the ways to reach each U in 0..mn without ties. Caller frees. */
static double *
count_mwu(size_t m, size_t n)
{
	size_t small = m < n ? m : n, large = m < n ? n : m, top = m * n;
	double *f = mem_array((small + 1) * (top + 1), sizeof *f);

	for (size_t i = 0; i <= small; i++)
		f[i * (top + 1)] = 1;
	for (size_t j = 1; j <= large; j++)
		for (size_t i = 1; i <= small; i++) {
			double *to = f + i * (top + 1);
			const double *from = to - (top + 1);

			for (size_t u = i * j; u >= j; u--)
				to[u] += from[u - j];
		}
	for (size_t u = 0; u <= top; u++)
		f[u] = f[small * (top + 1) + u];
	return f;
}

/* Counts the choices of n values per doubled rank sum. Caller frees. */
static double *
count_tied_rank_sums(const struct ranking *r, size_t n, size_t top)
{
	double *f = mem_array((n + 1) * (top + 1), sizeof *f);
	size_t before = 0, left = 0;

	f[0] = 1;
	for (size_t g = 0; g < r->n; g++)
		left += r->groups[g].size;
	for (size_t g = 0; g < r->n; g++) {
		size_t size = r->groups[g].size, rank2 = r->groups[g].rank2;

		before += size;
		left -= size;
		/* Downwards, so that each step reads the old counts; stops
		 * where the groups left cannot bring j up to n. */
		for (size_t j = before < n ? before : n; j > 0 && j + left >= n;
		     j--) {
			double *to = f + j * (top + 1);
			double ways = 1;

			for (size_t k = 1; k <= size && k <= j; k++) {
				const double *from = f + (j - k) * (top + 1);

				ways *= (double)(size - k + 1) / (double)k;
				for (size_t s = k * rank2;
				     s <= top && s <= j * rank2; s++)
					to[s] += ways * from[s - k * rank2];
			}
		}
	}
	for (size_t s = 0; s <= top; s++)
		f[s] = f[n * (top + 1) + s];
	return f;
}

/* The p of a statistic 'off' its mean; normal, with continuity correction. */
static double
approximate_p(double off, double sd)
{
	return fmin(1, 2 * tdist_normal_cdf(-fmax(0, fabs(off) - .5) / sd));
}

static void
approximate_mwu(struct ranktest *t, const struct ranking *r, size_t m, size_t n)
{
	double mm = (double)m, nn = (double)n, all = mm + nn, tied = 0, sigma,
	       d;

	for (size_t g = 0; g < r->n; g++) {
		double k = (double)r->groups[g].size;

		tied += k * k * k - k;
	}
	sigma = sqrt(mm * nn / 12 * (all + 1 - tied / (all * (all - 1))));
	d = t->stat - mm * nn / 2;
	t->exact = false;
	if (!(sigma > 0)) {
		t->p = 1;
		return;
	}
	t->p = approximate_p(d, sigma);
}

struct ranktest
ranktest_mwu(const double *x, size_t m, const double *y, size_t n)
{
	struct item *v = mem_array(m + n, sizeof *v);
	struct ranking r;
	struct ranktest t = {.n = m + n, .exact = true};
	double *count = NULL;
	size_t least2 = n * (n + 1);

	for (size_t i = 0; i < m + n; i++)
		v[i] = (struct item){i < m ? x[i] : y[i - m], i >= m};
	r = rank_all(v, m + n);
	t.stat = (double)(r.sum2 - least2) / 2;
	t.p_min = fmin(1,
	    2 *
		exp(lgamma((double)m + 1) + lgamma((double)n + 1) -
		    lgamma((double)(m + n) + 1)));
	if (!r.ties && m * n <= EXACT_PRODUCT) {
		count = count_mwu(m, n);
		compute_tails(&t, count, m * n, (r.sum2 - least2) / 2, m * n);
	} else if (m <= EXACT_TIED && n <= EXACT_TIED) {
		/* The doubled rank sum is least2 + 2 U; U has middle m n / 2.
		 */
		count = count_tied_rank_sums(&r, n, least2 + 2 * m * n);
		compute_tails(
		    &t, count + least2, 2 * m * n, r.sum2 - least2, 2 * m * n);
	} else {
		approximate_mwu(&t, &r, m, n);
	}
	free(count);
	free(r.groups);
	free(v);
	return t;
}

double
ranktest_cliff(double u, size_t m, size_t n)
{
	return 2 * u / ((double)m * (double)n) - 1;
}

/* Counts the signs that give each (doubled) rank sum. Caller frees. */
static double *
count_signed_rank_sums(const struct ranking *r, size_t top)
{
	double *f = mem_array(top + 1, sizeof *f);
	size_t reach = 0;

	f[0] = 1;
	for (size_t g = 0; g < r->n; g++)
		for (size_t k = 0; k < r->groups[g].size; k++) {
			size_t rank = r->groups[g].rank2;

			reach += rank;
			for (size_t s = reach; s >= rank; s--)
				f[s] += f[s - rank];
		}
	return f;
}

struct ranktest
ranktest_signed(const double *d, size_t n)
{
	struct item *v = mem_array(n, sizeof *v);
	struct ranking r;
	struct ranktest t = {.exact = true};
	double *count, mean, var = 0;
	size_t k = 0, top;

	for (size_t i = 0; i < n; i++)
		if (d[i] != 0)
			v[k++] = (struct item){fabs(d[i]), d[i] > 0};
	r = rank_all(v, k);
	t.n = k;
	t.stat = (double)r.sum2 / 2;
	t.p_min = k ? ldexp(1, k < 1000 ? 1 - (int)k : -999) : 1;
	top = k * (k + 1);
	if (k <= EXACT_SIGNED) {
		count = count_signed_rank_sums(&r, top);
		compute_tails(&t, count, top, r.sum2, top);
		free(count);
	} else {
		mean = (double)top / 4;
		for (size_t g = 0; g < r.n; g++)
			var += (double)r.groups[g].size *
			    (double)r.groups[g].rank2 *
			    (double)r.groups[g].rank2 / 16;
		t.exact = false;
		t.p = approximate_p(t.stat - mean, sqrt(var));
	}
	free(r.groups);
	free(v);
	return t;
}

struct ranktest_pairs {
	double *x, *y; /* sorted; x is NULL for Walsh averages */
	size_t m, n;
	bool walsh;
	double count;
	double *all;  /* sorted; NULL: too many to store */
	double *null; /* null distribution as counts; NULL: use the normal */
	size_t top;
};

static double
compute_pair(const struct ranktest_pairs *p, size_t i, size_t j)
{
	return p->walsh ? (p->y[i] + p->y[j]) / 2 : p->y[j] / p->x[i];
}

static void
list_pairs(struct ranktest_pairs *p)
{
	size_t k = 0;

	if (p->count > LAID_OUT)
		return;
	p->all = mem_array((size_t)p->count, sizeof *p->all);
	for (size_t i = 0; i < p->m; i++)
		for (size_t j = p->walsh ? i : 0; j < p->n; j++)
			p->all[k++] = compute_pair(p, i, j);
	stats_sort(p->all, k);
}

struct ranktest_pairs *
ranktest_ratios(const double *x, size_t m, const double *y, size_t n)
{
	struct ranktest_pairs *p = mem_new(sizeof *p);

	p->x = stats_sorted(x, m);
	p->y = stats_sorted(y, n);
	p->m = m;
	p->n = n;
	p->count = (double)m * (double)n;
	list_pairs(p);
	if (p->count <= EXACT_PRODUCT) {
		p->top = m * n;
		p->null = count_mwu(m, n);
	}
	return p;
}

struct ranktest_pairs *
ranktest_walsh(const double *d, size_t n)
{
	struct ranktest_pairs *p = mem_new(sizeof *p);

	p->y = stats_sorted(d, n);
	p->m = p->n = n;
	p->walsh = true;
	p->count = (double)n * ((double)n + 1) / 2;
	list_pairs(p);
	if (n <= EXACT_SIGNED) {
		struct ranking r = {.groups = mem_array(n, sizeof *r.groups)};

		for (r.n = 0; r.n < n; r.n++)
			r.groups[r.n] = (struct group){1, r.n + 1};
		p->top = n * (n + 1) / 2;
		p->null = count_signed_rank_sums(&r, p->top);
		free(r.groups);
	}
	return p;
}

void
ranktest_pairs_free(struct ranktest_pairs *p)
{
	if (!p)
		return;
	free(p->x);
	free(p->y);
	free(p->all);
	free(p->null);
	free(p);
}

/* Counts the pairs <= v; *above is the smallest pair > v. Uses that rows and
 * columns are sorted. */
static double
count_at_most(const struct ranktest_pairs *p, double v, double *above)
{
	double n = 0;
	size_t j = p->walsh ? p->n : 0;

	*above = INFINITY;
	for (size_t i = 0; i < p->m; i++) {
		if (p->walsh) /* j falls as i grows */
			while (j > 0 && compute_pair(p, i, j - 1) > v)
				j--;
		else /* j grows with i */
			while (j < p->n && compute_pair(p, i, j) <= v)
				j++;
		if (p->walsh && j <= i) {
			*above = fmin(*above, compute_pair(p, i, i));
			break;
		}
		n += (double)(p->walsh ? j - i : j);
		if (j < p->n)
			*above = fmin(*above, compute_pair(p, i, j));
	}
	return n;
}

/* Returns the k-th smallest pair, from 1. */
static double
find_kth_pair(const struct ranktest_pairs *p, double k)
{
	double lo, hi, mid, next;

	if (p->all)
		return p->all[(size_t)k - 1];
	lo = p->walsh ? p->y[0] : p->y[0] / p->x[p->m - 1];
	hi = p->walsh ? p->y[p->n - 1] : p->y[p->n - 1] / p->x[0];
	if (count_at_most(p, lo, &next) >= k)
		return lo;
	for (int i = 0; i < 200; i++) {
		mid = lo + (hi - lo) / 2;
		if (!(mid > lo && mid < hi))
			break;
		if (count_at_most(p, mid, &next) >= k)
			hi = mid;
		else
			lo = mid;
	}
	count_at_most(p, lo, &next);
	return next;
}

double
ranktest_pairs_median(const struct ranktest_pairs *p)
{
	double half = floor(p->count / 2);

	if (p->count == 0)
		return NAN;
	if (2 * half < p->count)
		return find_kth_pair(p, half + 1);
	return find_kth_pair(p, half) / 2 + find_kth_pair(p, half + 1) / 2;
}

/* Returns the largest k with P(stat <= k - 1) <= tail; 0 if there is none. */
static double
find_interval_rank(const struct ranktest_pairs *p, double tail)
{
	double sum = 0, all = 0, m = (double)p->m, n = (double)p->n, var;
	size_t i;

	if (p->null) {
		for (i = 0; i <= p->top; i++)
			all += p->null[i];
		for (i = 0; i <= p->top; i++) {
			if ((sum + p->null[i]) / all >
			    tail + 1e-12) /* 1/20 is .05 */
				break;
			sum += p->null[i];
		}
		return (double)i;
	}
	var = p->walsh ? n * (n + 1) * (2 * n + 1) / 24
		       : m * n * (m + n + 1) / 12;
	return fmax(
	    0, floor(p->count / 2 + tdist_normal_quantile(tail) * sqrt(var)));
}

bool
ranktest_pairs_ci(
    const struct ranktest_pairs *p, double want, double *lo, double *hi)
{
	double k = find_interval_rank(p, (1 - want) / 2);

	if (k < 1)
		return false;
	*lo = find_kth_pair(p, k);
	*hi = find_kth_pair(p, p->count - k + 1);
	return true;
}
