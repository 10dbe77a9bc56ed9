/*
 * The rank tests against all ways in which the ranks could be distributed; for
 * larger samples against the formulas of the normal approximation (Hollander &
 * Wolfe, Nonparametric Statistical Methods, 3.1 and 4.1).
 */
#include "mem.h"
#include "ranktest.h"
#include "rng.h"
#include "tap.h"

#include <stdlib.h>

enum { MOST = 12 };

static bool
is_near(double a, double b)
{
	return fabs(a - b) <= 1e-9 * fabs(b) + 1e-15;
}

static double
normal_below(double z)
{
	return erfc(-z / sqrt(2)) / 2;
}

/* Counts over all ways, of a statistic that lies around 'middle'. */
struct tally {
	double all, far, farthest, most_off;
};

static void
add_way(struct tally *t, double stat, double seen, double middle)
{
	double off = fabs(stat - middle);

	t->all++;
	t->far += off >= fabs(seen - middle);
	if (off > t->most_off) {
		t->most_off = off;
		t->farthest = 0;
	}
	t->farthest += off == t->most_off;
}

static bool
is_tally(const struct tally *t, const struct ranktest *r, double seen)
{
	return r->exact && r->stat == seen && is_near(r->p, t->far / t->all) &&
	    is_near(r->p_min, t->farthest / t->all);
}

/* How often a value of y is above a value of x; equal values count half. The
 * bits of 'in_y' are set for the values of y among the n values. */
static double
u_of(const double *v, size_t n, unsigned in_y)
{
	double u = 0;

	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < n; k++)
			if ((in_y >> i & 1) && !(in_y >> k & 1))
				u += v[i] > v[k] ? 1 : v[i] == v[k] ? .5 : 0;
	return u;
}

static bool
check_two(const double *v, size_t m, size_t n, double *u)
{
	unsigned seen = ((1u << n) - 1) << m;
	struct tally t = {0};
	struct ranktest r = ranktest_mwu(v, m, v + m, n);

	*u = u_of(v, m + n, seen);
	for (unsigned s = 0; s < 1u << (m + n); s++)
		if ((size_t)__builtin_popcount(s) == n)
			add_way(&t, u_of(v, m + n, s), *u, (double)(m * n) / 2);
	return is_tally(&t, &r, *u);
}

static void
two_samples(void)
{
	size_t tied = 0, plain = 0, all = 0;
	double v[MOST], u;
	struct rng r;

	rng_seed(&r, 4, 0);
	for (size_t m = 1; m <= 5; m++)
		for (size_t n = 1; n <= 5; n++, all++) {
			for (size_t i = 0; i < m + n; i++)
				v[i] = rng_unit(&r) + (i >= m) * .3;
			plain += check_two(v, m, n, &u);
			for (size_t i = 0; i < m + n; i++)
				v[i] = floor(4 * v[i]);
			tied += check_two(v, m, n, &u);
		}
	tap_ok(plain == all,
	    "Mann-Whitney is exact over all ways to mix two samples: %zu of "
	    "%zu",
	    plain, all);
	tap_ok(tied == all, "it is exact with ties, too: %zu", tied);
}

/* The sum of the midranks of |d| whose bit in 'up' is set. */
static double
signed_sum(const double *d, size_t n, unsigned up)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < n && (up >> i & 1); k++)
			sum += fabs(d[k]) < fabs(d[i]) ? 1
			    : fabs(d[k]) == fabs(d[i]) ? .5
						       : 0;
	return sum + .5 * __builtin_popcount(up);
}

static void
pairs(void)
{
	size_t right = 0, all = 0;
	double d[MOST];
	struct rng r;

	rng_seed(&r, 5, 0);
	for (size_t n = 1; n <= 10; n++)
		for (int ties = 0; ties < 2; ties++, all++) {
			struct tally t = {0};
			struct ranktest got;
			unsigned seen = 0;
			double w;

			for (size_t i = 0; i < n; i++) {
				d[i] = rng_unit(&r) + .1;
				if (ties)
					d[i] = ceil(3 * d[i]);
				if (rng_unit(&r) < .4)
					d[i] = -d[i];
				seen |= (unsigned)(d[i] > 0) << i;
			}
			w = signed_sum(d, n, seen);
			for (unsigned s = 0; s < 1u << n; s++)
				add_way(&t, signed_sum(d, n, s), w,
				    (double)(n * (n + 1)) / 4);
			got = ranktest_signed(d, n);
			right += is_tally(&t, &got, w) && got.n == n;
		}
	tap_ok(right == all,
	    "the signed rank test is exact over all signs: %zu of %zu", right,
	    all);
}

/* The sum over groups of equal values of t^3 - t, where t is the size of the
 * group. */
static double
tie_sum(const double *v, size_t n)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++) {
		double k = 0;

		for (size_t j = 0; j < n; j++)
			k += v[j] == v[i];
		sum += k * k - 1;
	}
	return sum;
}

static void
check_normal(const char *what, const struct ranktest *t, double stat,
    double off, double sd)
{
	bool right = !t->exact && t->stat == stat &&
	    is_near(t->p, 2 * normal_below(-(fabs(off) - .5) / sd));

	tap_ok(right, "%s: the normal approximation, p = %g", what, t->p);
}

static void
large_samples(void)
{
	enum { M = 31, N = 20, PAIRS = 101 };
	double v[M + N], d[PAIRS], u = 0, sd, n = M + N, var = 0, w = 0;
	struct ranktest t;
	struct rng r;

	rng_seed(&r, 6, 0);
	for (size_t i = 0; i < M + N; i++)
		v[i] = floor(20 * rng_unit(&r)) + (i >= M ? 2 : 0);
	for (size_t i = 0; i < M; i++)
		for (size_t k = M; k < M + N; k++)
			u += v[k] > v[i] ? 1 : v[k] == v[i] ? .5 : 0;
	sd = sqrt(M * N / 12. * (n + 1 - tie_sum(v, M + N) / (n * (n - 1))));
	t = ranktest_mwu(v, M, v + M, N);
	check_normal("31 against 20", &t, u, u - M * N / 2., sd);
	t = ranktest_mwu(v + M, N, v, M);
	check_normal("20 against 31", &t, M * N - u, M * N / 2. - u, sd);
	tap_ok(t.n == M + N, "all 51 values are used");
	t = ranktest_mwu(v, 30, v + M, N);
	tap_ok(t.exact, "30 a side with ties are computed exactly");
	for (size_t m = 29; m <= 31; m++)
		for (size_t k = 29; k <= 31; k++) {
			double flat[31] = {0}, rising[31];

			for (size_t i = 0; i < 31; i++)
				rising[i] = (double)i;
			t = ranktest_mwu(flat, m, rising, k);
			tap_ok(t.exact == (m < 31 && k < 31),
			    "%zu against %zu with ties", m, k);
		}
	for (size_t i = 0; i < PAIRS; i++)
		d[i] = floor(9 * rng_unit(&r)) + .5 - 4;
	for (size_t i = 0; i < PAIRS; i++) {
		double rank = .5;

		for (size_t k = 0; k < PAIRS; k++)
			rank += fabs(d[k]) < fabs(d[i]) ? 1
			    : fabs(d[k]) == fabs(d[i])  ? .5
							: 0;
		var += rank * rank / 4;
		w += d[i] > 0 ? rank : 0;
	}
	t = ranktest_signed(d, PAIRS);
	check_normal(
	    "101 pairs", &t, w, w - PAIRS * (PAIRS + 1) / 4., sqrt(var));
	t = ranktest_signed(d, PAIRS - 1);
	tap_ok(t.exact, "100 pairs are computed exactly");
	for (size_t i = 0; i < 60; i++)
		v[i % (M + N)] = (double)i;
	t = ranktest_mwu(v, 50, v, 1);
	tap_ok(!t.exact, "50 against 1 with ties are not computed exactly");
}

static int
rising(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Checks that the interval ends at the k-th smallest and the k-th largest
 * ratio. */
static void
check_interval(const char *what, const struct ranktest_pairs *p, double *all,
    size_t count, double want, size_t k)
{
	double lo = 0, hi = 0;
	bool is = ranktest_pairs_ci(p, want, &lo, &hi);

	qsort(all, count, sizeof *all, rising);
	tap_ok(is && lo == all[k - 1] && hi == all[count - k],
	    "%s: value %zu of %zu from each end", what, k, count);
}

static void
intervals(void)
{
	enum { M = 60, N = 50 };
	double x[1500], y[1500], *all = mem_array(1500 * 1501, sizeof *all);
	struct ranktest_pairs *p;
	size_t k;
	struct rng r;

	rng_seed(&r, 8, 0);
	for (size_t i = 0; i < 1500; i++) {
		x[i] = 1 + rng_unit(&r);
		y[i] = 2 + rng_unit(&r);
	}
	/* Of the 252 ways to mix five and five, 1, 1, 2, 3, 5, ... have U = 0,
	 * 1, 2, 3, 4: 4 of 252 are below .025, 7 are above. */
	p = ranktest_ratios(x, 5, y, 5);
	for (size_t i = k = 0; i < 5; i++)
		for (size_t j = 0; j < 5; j++)
			all[k++] = y[j] / x[i];
	check_interval("five against five", p, all, k, .95, 3);
	ranktest_pairs_free(p);
	/* Of the 2^8 signs, 1, 1, 1, 2 have the sums 0, 1, 2, 3: 5 of 256 are
	 * .0195. */
	p = ranktest_walsh(x, 8);
	for (size_t i = k = 0; i < 8; i++)
		for (size_t j = i; j < 8; j++)
			all[k++] = (x[i] + x[j]) / 2;
	check_interval("eight pairs", p, all, k, .95, 4);
	ranktest_pairs_free(p);
	p = ranktest_ratios(x, M, y, N);
	for (size_t i = k = 0; i < M; i++)
		for (size_t j = 0; j < N; j++)
			all[k++] = y[j] / x[i];
	/* 1500 - 1.959964 sqrt(60 50 111 / 12) */
	check_interval("60 against 50", p, all, k, .95, 1173);
	ranktest_pairs_free(p);
	p = ranktest_walsh(x, 101);
	for (size_t i = k = 0; i < 101; i++)
		for (size_t j = i; j < 101; j++)
			all[k++] = (x[i] + x[j]) / 2;
	/* 2575.5 - 1.959964 sqrt(101 102 203 / 24) */
	check_interval("101 pairs", p, all, k, .95, 1996);
	ranktest_pairs_free(p);
	p = ranktest_walsh(x, 1500);
	for (size_t i = k = 0; i < 1500; i++)
		for (size_t j = i; j < 1500; j++)
			all[k++] = (x[i] + x[j]) / 2;
	/* 562875 - 1.959964 sqrt(1500 1501 3001 / 24) */
	check_interval("1500 pairs, searched for", p, all, k, .95,
	    (size_t)floor(
		562875 - 1.959963984540054 * sqrt(1500. * 1501 * 3001 / 24)));
	ranktest_pairs_free(p);
	/* More than half of x is large: all their ratios are small. */
	for (size_t i = 700; i < 1500; i++)
		x[i] *= 10;
	p = ranktest_ratios(x, 1500, y, 700);
	for (size_t i = k = 0; i < 1500; i++)
		for (size_t j = 0; j < 700; j++)
			all[k++] = y[j] / x[i];
	check_interval("1500 against 700, searched for", p, all, k, .95,
	    (size_t)floor(
		525000 - 1.959963984540054 * sqrt(1500. * 700 * 2201 / 12)));
	ranktest_pairs_free(p);
	free(all);
}

int
main(void)
{
	two_samples();
	pairs();
	large_samples();
	intervals();
	return tap_done();
}
