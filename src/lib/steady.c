#include "steady.h"
#include "mem.h"
#include "stats.h"
#include "tdist.h"

#include <math.h>
#include <stdlib.h>

enum { BATCH = 5, EXACT = 1024 };

size_t
steady_mser5(const double *v, size_t n, double *mser)
{
	size_t k = n / BATCH, cut = 0;
	double mean = 0, squares = 0, best = NAN;

	/* From the end, so that each step adds one batch (Welford 1962). */
	for (size_t d = k; d-- > 0;) {
		double left = (double)(k - d);
		double off = stats_mean(v + d * BATCH, BATCH) - mean;

		mean += off / left;
		squares += off * off * (left - 1) / left;
		if (d <= k / 2 && !(squares / (left * left) > best)) {
			best = squares / (left * left);
			cut = d;
		}
	}
	if (mser)
		*mser = best;
	return cut * BATCH;
}

static double
compute_median(const double *v, size_t n, double *buf)
{
	for (size_t i = 0; i < n; i++)
		buf[i] = v[i];
	return stats_middle(buf, n);
}

/* 18 times the variance of Kendall's S, which ties reduce. */
static double
compute_kendall_variance(const double *v, size_t n)
{
	double *buf = stats_sorted(v, n), k = (double)n;
	double var = k * (k - 1) * (2 * k + 5);

	for (size_t i = 0, j; i < n; i = j) {
		for (j = i; j < n && buf[j] == buf[i]; j++)
			;
		k = (double)(j - i);
		var -= k * (k - 1) * (2 * k + 5);
	}
	free(buf);
	return var;
}

/* Returns the *k slopes of all pairs. Caller frees. */
static double *
compute_slopes(const double *v, size_t n, size_t *k)
{
	double *s = mem_resize(NULL, n * (n - 1) / 2, sizeof *s), *to = s;

	for (size_t d = 1; d < n; d++)
		for (size_t i = 0; i + d < n; i++)
			*to++ = (v[i + d] - v[i]) / (double)d;
	*k = (size_t)(to - s);
	return s;
}

/* Returns the medians of groups of 'size' neighbours. Caller frees. */
static double *
thin_by_medians(const double *v, size_t *n, size_t size)
{
	double *mid = mem_array(*n / size, sizeof *mid);
	double *buf = mem_array(size, sizeof *buf);

	*n /= size;
	for (size_t i = 0; i < *n; i++)
		mid[i] = compute_median(v + i * size, size, buf);
	free(buf);
	return mid;
}

static struct steady_trend
compute_trend(const double *v, size_t n, bool interval)
{
	struct steady_trend t = {NAN, NAN, NAN};
	size_t k;
	double *s = compute_slopes(v, n, &k), m;

	t.slope = stats_middle(s, k);
	if (interval) {
		/* Hollander & Wolfe 9.3: the m-th from either end. */
		m = tdist_normal_quantile(.975) *
		    sqrt(compute_kendall_variance(v, n) / 18);
		m = floor(((double)k - m) / 2);
		if (m >= 1) {
			t.lo = stats_select(s, k, (size_t)m - 1);
			t.hi = stats_select(s, k, k - (size_t)m);
		}
	}
	free(s);
	return t;
}

static struct steady_trend
compute_thinned_trend(const double *v, size_t n, size_t most, bool interval)
{
	size_t size = (n + most - 1) / most;
	struct steady_trend t;
	double *mid;

	if (n < 2)
		return (struct steady_trend){NAN, NAN, NAN};
	if (size == 1)
		return compute_trend(v, n, interval);
	mid = thin_by_medians(v, &n, size);
	t = compute_trend(mid, n, interval);
	t.slope /= (double)size;
	t.lo /= (double)size;
	t.hi /= (double)size;
	free(mid);
	return t;
}

struct steady_trend
steady_trend(const double *v, size_t n, size_t most)
{
	return compute_thinned_trend(v, n, most, true);
}

double
steady_slope(const double *v, size_t n, size_t most)
{
	return compute_thinned_trend(v, n, most, false).slope;
}

double
steady_drift(const double *v, size_t n, double slope)
{
	double mid, *buf;

	if (slope == 0 || n < 2)
		return slope;
	buf = mem_array(n, sizeof *buf);
	mid = compute_median(v, n, buf);
	free(buf);
	return mid == 0 ? NAN : slope * (double)(n - 1) / mid;
}

struct steady
steady_judge(const double *v, size_t n)
{
	struct steady s = {STEADY_NONE, 0, NAN};

	if (n < STEADY_LEAST)
		return s;
	s.cut = steady_mser5(v, n, NULL);
	s.drift = steady_drift(
	    v + s.cut, n - s.cut, steady_slope(v + s.cut, n - s.cut, EXACT));
	s.verdict =
	    fabs(s.drift) <= STEADY_DRIFT ? STEADY_STEADY : STEADY_DRIFTING;
	return s;
}

enum steady_kind
steady_classify(const double *v, size_t n, const size_t *first, size_t k,
    bool more_is_better)
{
	double *buf = mem_array(n, sizeof *buf), last, near, mid;
	size_t from = k ? first[k - 1] : 0, to;
	bool flat = true, better = false, late = false;

	last = compute_median(v + from, n - from, buf);
	stats_sort(buf, n - from);
	near = stats_quantile(buf, n - from, .75) -
	    stats_quantile(buf, n - from, .25);
	near = fmax(near, STEADY_DRIFT * fabs(last));
	for (size_t i = k; i-- > 0;) {
		to = first[i];
		from = i ? first[i - 1] : 0;
		mid = compute_median(v + from, to - from, buf);
		if (fabs(mid - last) <= near)
			continue;
		flat = false;
		late |= to > n - n / 4;
		better |= (mid > last) == more_is_better;
	}
	free(buf);
	if (flat)
		return STEADY_FLAT;
	if (late)
		return STEADY_UNSTEADY;
	return better ? STEADY_SLOWDOWN : STEADY_WARMUP;
}

const char *
steady_kind_name(enum steady_kind k)
{
	static const char *const names[] = {
	    "flat", "warmup", "slowdown", "unsteady"};

	return names[k];
}
