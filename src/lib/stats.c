#include "stats.h"
#include "mem.h"
#include "tdist.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum {
	RUN = 4,   /* values sorted by a fixed network */
	MANY = 128 /* values from which the median is found by a sample */
};

static size_t
get_smaller(size_t a, size_t b)
{
	return a < b ? a : b;
}

static inline void
order_pair(double *a, double *b)
{
	double x = *a, y = *b;

	*a = y < x ? y : x;
	*b = y < x ? x : y;
}

/* Sorts up to RUN values by comparing neighbours in turns. */
static void
sort_run(double *v, size_t n)
{
	if (n == RUN) {
		double a = v[0], b = v[1], c = v[2], d = v[3];

		for (int i = 0; i < 2; i++) {
			order_pair(&a, &b);
			order_pair(&c, &d);
			order_pair(&b, &c);
		}
		v[0] = a, v[1] = b, v[2] = c, v[3] = d;
	}
	for (; n < RUN && n > 1; n--)
		for (size_t i = 1; i < n; i++)
			order_pair(&v[i - 1], &v[i]);
}

/*
 * Merges from[0..m) and from[m..n). As long as neither part can be used up it
 * merges from both ends, without a branch that depends on a comparison.
 */
static void
merge_sorted(double *to, const double *from, size_t m, size_t n)
{
	size_t i = 0, k = m, p = m, q = n, sure = get_smaller(m, n - m);

	for (size_t at = 0; at < sure; at++) {
		double a = from[i], b = from[k], y = from[p - 1],
		       z = from[q - 1];
		size_t right = b < a, left = z < y;

		to[at] = b < a ? b : a;
		k += right;
		i += 1 - right;
		to[n - 1 - at] = z < y ? y : z;
		p -= left;
		q -= 1 - left;
	}
	for (size_t at = sure; at < n - sure; at++)
		to[at] = k >= q || (i < p && from[i] <= from[k]) ? from[i++]
								 : from[k++];
}

void
stats_sort(double *v, size_t n)
{
	double *buf, *from = v, *to;

	for (size_t i = 0; i < n; i += RUN)
		sort_run(v + i, get_smaller(RUN, n - i));
	if (n <= RUN)
		return;
	to = buf = mem_resize(NULL, n, sizeof *buf);
	for (size_t m = RUN; m < n; m *= 2) {
		for (size_t i = 0; i < n; i += 2 * m)
			merge_sorted(to + i, from + i, get_smaller(m, n - i),
			    get_smaller(2 * m, n - i));
		to = from;
		from = to == v ? buf : v;
	}
	if (from != v)
		memcpy(v, from, n * sizeof *v);
	free(buf);
}

double *
stats_sorted(const double *v, size_t n)
{
	double *sorted = mem_array(n + 1, sizeof *sorted);

	if (n)
		memcpy(sorted, v, n * sizeof *v);
	stats_sort(sorted, n);
	return sorted;
}

static int
compare_at(const void *a, const void *b, void *arg)
{
	size_t i = *(const size_t *)a, j = *(const size_t *)b;
	const double *v = arg;
	int c = (v[i] > v[j]) - (v[i] < v[j]);

	return c ? c : (i > j) - (i < j);
}

size_t *
stats_order(const double *v, size_t n)
{
	size_t *order = mem_array(n + 1, sizeof *order);

	for (size_t i = 0; i < n; i++)
		order[i] = i;
	if (n)
		qsort_r(
		    order, n, sizeof *order, compare_at, (double *)(size_t)v);
	return order;
}

/* Moves the values below the pivot, or those equal to it too, to the front of
 * v[from..to); returns their end. No branch depends on a comparison. */
static size_t
partition_values(double *v, size_t from, size_t to, double pivot, bool equal)
{
	for (size_t i = from; i < to; i++) {
		double x = v[i];

		v[i] = v[from];
		v[from] = x;
		from += equal ? !(x > pivot) : x < pivot;
	}
	return from;
}

double
stats_select(double *v, size_t n, size_t k)
{
	size_t lo = 0, hi = n, end;

	while (hi - lo > 1) {
		double a = v[lo], pivot = v[lo + (hi - lo) / 2], c = v[hi - 1];

		order_pair(&a, &pivot); /* the middle one of three */
		order_pair(&pivot, &c);
		order_pair(&a, &pivot);
		end = partition_values(v, lo, hi, pivot, false);
		if (k < end) {
			hi = end;
			continue;
		}
		if (end == lo)
			end = partition_values(v, lo, hi, pivot, true);
		if (k < end)
			break; /* all of them are equal to the pivot */
		lo = end;
	}
	return v[k];
}

/* The k-th smallest value, or if 'even', its mean with the one below. */
static double
select_median(double *v, size_t n, size_t k, bool even)
{
	double high = stats_select(v, n, k), low;

	if (!even)
		return high;
	low = v[0];
	for (size_t i = 1; i < k; i++)
		low = v[i] > low ? v[i] : low;
	return low / 2 + high / 2;
}

/*
 * Finds the median of many values among those between two values of a sample.
 * Returns false if the median is not between them, once in 100 times. (After
 * Floyd & Rivest, Comm. ACM 18, 1975.)
 */
static bool
find_median_by_sample(const double *v, size_t n, double *middle)
{
	size_t m = 2 * (size_t)sqrt((double)n), k = 0, below = n;
	size_t off = (size_t)(1.25 * sqrt((double)m)) + 1;
	double *buf = mem_resize(NULL, n + 1, sizeof *buf), lo, hi;
	bool even = n % 2 == 0, found;

	for (size_t i = 0; i < m; i++)
		buf[i] = v[(2 * i + 1) * n / (2 * m)];
	stats_sort(buf, m);
	lo = buf[m / 2 - off];
	hi = buf[m / 2 + off];
	for (size_t i = 0; i < n; i++) {
		size_t in = v[i] >= lo;

		buf[k] = v[i];
		k += in - (v[i] > hi);
		below -= in;
	}
	found = below + even <= n / 2 && below + k > n / 2;
	if (found)
		*middle = select_median(buf, k, n / 2 - below, even);
	free(buf);
	return found;
}

double
stats_middle(double *v, size_t n)
{
	double middle;

	if (!n)
		return NAN;
	if (n >= MANY && find_median_by_sample(v, n, &middle))
		return middle;
	return select_median(v, n, n / 2, n % 2 == 0);
}

double
stats_mean(const double *v, size_t n)
{
	double sum = 0, lost = 0;

	if (!n)
		return NAN;
	for (size_t i = 0; i < n; i++) {
		double add = v[i] - lost, s = sum + add;

		lost = s - sum - add;
		sum = s;
	}
	return sum / (double)n;
}

double
stats_sd(const double *v, size_t n)
{
	double mean = stats_mean(v, n), sum = 0, off = 0;

	if (n < 2)
		return NAN;
	for (size_t i = 0; i < n; i++) {
		sum += (v[i] - mean) * (v[i] - mean);
		off += v[i] - mean;
	}
	/* Equal values give exactly 0, even if the mean is rounded. */
	for (size_t i = 1; i < n && v[i] == v[0]; i++)
		if (i == n - 1)
			return 0;
	return sqrt(fmax(0, sum - off * off / (double)n) / (double)(n - 1));
}

double
stats_squares(const double *v, size_t n, double *mean)
{
	double sum = 0, squares = 0;

	/* Relative to the first value, so that equal ones have no spread. */
	for (size_t i = 0; i < n; i++)
		sum += v[i] - v[0];
	*mean = v[0] + sum / (double)n;
	for (size_t i = 0; i < n; i++)
		squares += (v[i] - *mean) * (v[i] - *mean);
	return squares;
}

double
stats_median(const double *v, size_t n)
{
	if (!n)
		return NAN;
	return n % 2 ? v[n / 2] : v[n / 2 - 1] / 2 + v[n / 2] / 2;
}

double
stats_quantile(const double *v, size_t n, double q)
{
	double at;
	size_t i;

	if (!n)
		return NAN;
	at = q * (double)(n - 1);
	i = (size_t)at;
	if (i + 1 >= n)
		return v[n - 1];
	return v[i] + (at - (double)i) * (v[i + 1] - v[i]);
}

/* The values nearest to the median are adjacent: v[lo..lo + n / 2]. */
double
stats_mad(const double *v, size_t n)
{
	double median = stats_median(v, n), left, right;
	size_t k = n / 2, lo = 0, hi = n - 1 - k;

	if (!n)
		return NAN;
	while (lo < hi) {
		size_t mid = (lo + hi) / 2;

		if (median - v[mid] > v[mid + k + 1] - median)
			lo = mid + 1;
		else
			hi = mid;
	}
	left = median - v[lo];
	right = v[lo + k] - median;
	if (n % 2)
		return left > right ? left : right;
	/* The mean of the farthest value and the next one. */
	if (left > right)
		return left / 2 + fmax(median - v[lo + 1], right) / 2;
	return right / 2 + fmax(left, v[lo + k - 1] - median) / 2;
}

/* P(Bin(n, 1/2) <= l - 1) */
static double
compute_binomial_tail(size_t n, size_t l)
{
	return tdist_betainc((double)(n - l + 1), (double)l, .5);
}

size_t
stats_median_ci(size_t n, double want, double *conf)
{
	size_t lo = 0, hi = (n + 1) / 2, mid;

	while (lo < hi) {
		mid = (lo + hi + 1) / 2;
		if (1 - 2 * compute_binomial_tail(n, mid) >= want)
			lo = mid;
		else
			hi = mid - 1;
	}
	if (conf)
		*conf = lo ? 1 - 2 * compute_binomial_tail(n, lo) : 1;
	return lo;
}

static double
find_t_quantile(size_t n, double want)
{
	return n < 3 ? NAN : tdist_quantile((1 + want) / 2, (double)(n - 1));
}

static bool
compute_t_interval(const double *v, size_t n, double t, double *lo, double *hi)
{
	double *x, mean, half;
	bool logs = true;

	if (n < 3)
		return false;
	for (size_t i = 0; i < n; i++)
		logs = logs && v[i] > 0;
	x = mem_array(n, sizeof *x);
	for (size_t i = 0; i < n; i++)
		x[i] = logs ? log(v[i]) : v[i];
	mean = stats_mean(x, n);
	half = t * stats_sd(x, n) / sqrt((double)n);
	*lo = logs ? exp(mean - half) : mean - half;
	*hi = logs ? exp(mean + half) : mean + half;
	free(x);
	return true;
}

const char *
stats_ci(struct stats_rule *r, const double *v, size_t n, double want,
    double *lo, double *hi)
{
	if (r->n != n || r->want != want) {
		*r = (struct stats_rule){
		    n, want, stats_median_ci(n, want, NULL), NAN};
		if (!r->l)
			r->t = find_t_quantile(n, want);
	}
	if (!r->l)
		return compute_t_interval(v, n, r->t, lo, hi) ? "t" : NULL;
	*lo = v[r->l - 1];
	*hi = v[n - r->l];
	return "order";
}

double
stats_modified_z(double x, double median, double mad)
{
	if (x == median)
		return 0;
	return mad > 0 ? fabs(x - median) / (1.4826 * mad) : INFINITY;
}

double
stats_lag1(const double *v, size_t n)
{
	double mean = stats_mean(v, n), own = 0, next = 0;

	if (n < 4)
		return NAN;
	for (size_t i = 0; i < n; i++) {
		own += (v[i] - mean) * (v[i] - mean);
		if (i + 1 < n)
			next += (v[i] - mean) * (v[i + 1] - mean);
	}
	return stats_sd(v, n) > 0 ? next / own : NAN;
}

struct stats_welch
stats_welch(const double *x, size_t m, const double *y, size_t n, double conf)
{
	double sx = stats_sd(x, m), sy = stats_sd(y, n);
	double vx = sx * sx / (double)m, vy = sy * sy / (double)n, half;
	struct stats_welch w = {
	    .diff = stats_mean(y, n) - stats_mean(x, m), .se = sqrt(vx + vy)};

	if (w.se == 0) {
		w.df = (double)(m + n - 2);
		w.t = w.diff == 0 ? 0 : copysign(INFINITY, w.diff);
		w.p = w.diff == 0;
		w.lo = w.hi = w.diff;
		return w;
	}
	w.df = (vx + vy) * (vx + vy) /
	    (vx * vx / (double)(m - 1) + vy * vy / (double)(n - 1));
	w.t = w.diff / w.se;
	w.p = 2 * tdist_sf(fabs(w.t), w.df);
	half = tdist_quantile(.5 + conf / 2, w.df) * w.se;
	w.lo = w.diff - half;
	w.hi = w.diff + half;
	return w;
}

double
stats_geomean(const double *v, size_t n)
{
	double mean = 0;

	for (size_t i = 0; i < n; i++)
		mean += log(v[i]) / (double)n;
	return n ? exp(mean) : NAN;
}
