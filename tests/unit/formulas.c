/*
 * The formulas of the headers computed again, the slow and obvious way, and
 * compared with what the library gives for random samples of every small size.
 */
#include "hist.h"
#include "mem.h"
#include "stats.h"
#include "steady.h"
#include "tap.h"
#include "tdist.h"

#include <stdint.h>
#include <stdlib.h>

enum { MOST = 40 };

static bool
is_near(double a, double b)
{
	if (isnan(a) || isnan(b))
		return isnan(a) && isnan(b);
	return a == b || fabs(a - b) <= 1e-9 * fmax(fabs(a), fabs(b)) + 1e-12;
}

static double
next_number(void)
{
	static uint64_t state = 88172645463325252;

	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (double)(state >> 11) / 9007199254740992.;
}

/* Sets n values between 1 and 3 in random order; 'sorted' has them in rising
 * order. */
static void
fill_sample(double *v, double *sorted, size_t n)
{
	for (size_t i = 0; i < n; i++)
		v[i] = sorted[i] = 1 + 2 * next_number();
	for (size_t i = 1; i < n; i++)
		for (size_t j = i; j && sorted[j - 1] > sorted[j]; j--) {
			double t = sorted[j];

			sorted[j] = sorted[j - 1];
			sorted[j - 1] = t;
		}
}

static double
median_of(const double *sorted, size_t n)
{
	return (sorted[(n - 1) / 2] + sorted[n / 2]) / 2;
}

static void
check_moments(void)
{
	bool mean = true, sd = true, mad = true, lag = true, quantile = true;
	double v[MOST], s[MOST], d[MOST], unused[MOST];

	for (size_t n = 1; n <= MOST; n++) {
		double sum = 0, squares = 0, products = 0, m;

		fill_sample(v, s, n);
		for (size_t i = 0; i < n; i++)
			sum += v[i];
		m = sum / (double)n;
		for (size_t i = 0; i < n; i++) {
			squares += (v[i] - m) * (v[i] - m);
			products += i ? (v[i] - m) * (v[i - 1] - m) : 0;
			d[i] = fabs(v[i] - median_of(s, n));
		}
		mean = mean && is_near(stats_mean(v, n), m);
		if (n >= 2)
			sd = sd &&
			    is_near(stats_sd(v, n),
				sqrt(squares / (double)(n - 1)));
		lag = lag &&
		    is_near(stats_lag1(v, n), n < 4 ? NAN : products / squares);
		memcpy(unused, d, sizeof unused);
		stats_sort(unused, n);
		mad = mad && is_near(stats_mad(s, n), median_of(unused, n));
		for (double q = 0; q <= 1; q += .125) {
			double h = q * (double)(n - 1);
			size_t i = (size_t)h;
			double up = s[i + 1 < n ? i + 1 : i];

			quantile = quantile &&
			    is_near(stats_quantile(s, n, q),
				s[i] + (h - (double)i) * (up - s[i]));
		}
	}
	tap_ok(mean && sd,
	    "mean and standard deviation are computed from their sums");
	tap_ok(mad, "the MAD is the median of the deviations");
	tap_ok(lag,
	    "the autocorrelation is computed from its sums, from 4 values on");
	tap_ok(quantile, "quantiles are those of Hyndman and Fan, type 7");
	/* 1 / the quartile of the normal distribution, as precise as a double.
	 * */
	tap_near(stats_modified_z(12, 10, 1) * 1.482602218505602 / 2, 1, 2e-6,
	    "modified z: the MAD is .6745 standard deviations");
	tap_ok(stats_modified_z(8, 10, 1) == stats_modified_z(12, 10, 1),
	    "modified z: a value below the median has the same z as one above "
	    "it");
}

/* The part of samples whose median lies between the values in place l from each
 * end. */
static double
cover_of(size_t n, size_t l)
{
	double term = pow(.5, (double)n), below = 0;

	for (size_t k = 0; k < l; k++) {
		below += term;
		term *= (double)(n - k) / (double)(k + 1);
	}
	return 1 - 2 * below;
}

static void
check_median_intervals(void)
{
	bool right = true, covers = true;

	for (size_t n = 1; n <= 200; n++) {
		double conf = -1;
		size_t got = stats_median_ci(n, .95, &conf), l = 0;

		while (2 * (l + 1) <= n + 1 && cover_of(n, l + 1) >= .95)
			l++;
		right = right && got == l;
		covers = covers && (!l || is_near(conf, cover_of(n, l)));
	}
	tap_ok(right,
	    "the interval of a median is the narrowest that covers 95 %%");
	tap_ok(covers, "it has the level that it covers");
}

static void
check_welch(void)
{
	bool right = true, widths = true, means = true;
	double x[MOST], y[MOST], s[MOST];

	for (size_t n = 3; n <= MOST; n++) {
		size_t m = 2 + n / 3;
		struct stats_welch w;
		double a, b, se, df, t, sum = 0, mid;

		fill_sample(x, s, m);
		fill_sample(y, s, n);
		w = stats_welch(x, m, y, n, .9);
		a = pow(stats_sd(x, m), 2) / (double)m;
		b = pow(stats_sd(y, n), 2) / (double)n;
		se = sqrt(a + b);
		df = (a + b) * (a + b) /
		    (a * a / (double)(m - 1) + b * b / (double)(n - 1));
		t = (stats_mean(y, n) - stats_mean(x, m)) / se;
		right = right && is_near(w.se, se) && is_near(w.df, df) &&
		    is_near(w.t, t) && is_near(w.p, 2 * tdist_sf(fabs(t), df));
		widths = widths &&
		    is_near(w.hi - w.diff, tdist_quantile(.95, df) * se) &&
		    is_near(w.diff - w.lo, tdist_quantile(.95, df) * se);
		for (size_t i = 0; i < n; i++)
			s[i] = log(y[i]), sum += s[i];
		mid = sum / (double)n;
		means = means && is_near(stats_geomean(y, n), exp(mid));
	}
	tap_ok(right, "Welch: error, degrees of freedom, t and p");
	tap_ok(widths, "Welch: both ends of the interval");
	tap_ok(means, "geometric mean");
}

static int
compare_numbers(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void
check_courses(void)
{
	bool cut = true, slope = true, drift = true;
	double v[MOST * 5], s[MOST * 5], all[MOST * MOST];

	for (size_t n = 5; n <= (size_t)MOST * 5; n += 7) {
		size_t k = n / 5, best = 0;
		double batch[MOST], least = INFINITY, got;

		fill_sample(v, s, n);
		for (size_t i = 0; i < n / 4; i++)
			v[i] *= 1.5;
		for (size_t i = 0; i < k; i++)
			batch[i] = stats_mean(v + 5 * i, 5);
		for (size_t d = 0; d <= k / 2 && d < k; d++) {
			double sd = k - d > 1 ? stats_sd(batch + d, k - d) : 0;
			double left = (double)(k - d);
			double q = sd * sd * (left - 1) / (left * left);

			if (q < least * (1 - 1e-12))
				least = q, best = d;
		}
		cut = cut && steady_mser5(v, n, &got) == 5 * best &&
		    is_near(got, least);
	}
	tap_ok(cut, "MSER-5 cuts where the mean square is the smallest");
	for (size_t n = 2; n <= MOST; n++) {
		struct steady_trend t;
		size_t k = 0;

		fill_sample(v, s, n);
		for (size_t i = 0; i < n; i++)
			for (size_t j = i + 1; j < n; j++)
				all[k++] = (v[j] - v[i]) / (double)(j - i);
		qsort(all, k, sizeof *all, compare_numbers);
		t = steady_trend(v, n, MOST);
		slope = slope && is_near(t.slope, median_of(all, k)) &&
		    is_near(steady_slope(v, n, MOST), t.slope);
		slope = slope &&
		    (n < 6 ? isnan(t.lo) && isnan(t.hi)
			   : t.lo <= t.slope && t.slope <= t.hi);
		drift = drift &&
		    is_near(steady_drift(v, n, t.slope),
			t.slope * (double)(n - 1) / median_of(s, n));
	}
	tap_ok(slope, "a slope is the median of those of all pairs");
	tap_ok(drift, "the drift is that from the first to the last value");
}

static void
check_quantiles(void)
{
	static const double q[] = {0, .001, .25, .5, .9, .95, .99, .999, 1};
	bool right = true, mean = true, ends = true;

	for (size_t n = 1; n <= 2000; n = n * 3 / 2 + 1) {
		struct hist *h = hist_new(1, 3600000000, 3);
		double *v = mem_array(n, sizeof *v), sum = 0;

		for (size_t i = 0; i < n; i++) {
			v[i] = floor(exp(1 + 18 * next_number()));
			hist_add(h, (int64_t)v[i], 1);
			sum += v[i];
		}
		stats_sort(v, n);
		for (size_t i = 0; i < sizeof q / sizeof *q; i++) {
			size_t rank = (size_t)floor(q[i] * (double)n + .5);
			double want = v[rank ? rank - 1 : 0];
			double got = (double)hist_quantile(h, q[i]);

			/* The highest value of the same cell of 10^-3. */
			right = right && got >= want && got <= want * 1.001;
		}
		mean = mean &&
		    fabs(hist_mean(h) - sum / (double)n) <=
			1e-3 * sum / (double)n;
		ends = ends && hist_min(h) == (int64_t)v[0] &&
		    hist_max(h) == (int64_t)v[n - 1] && hist_count(h) == n;
		free(v);
		hist_free(h);
	}
	tap_ok(right,
	    "a quantile of a histogram is the value of the nearest rank");
	tap_ok(mean && ends,
	    "the mean of a histogram is near, its ends and count are exact");
}

static void
check_beta(void)
{
	/* I_x(a, b) of whole a and b is a sum of the binomial distribution. */
	bool right = true;

	for (int a = 1; a <= 12; a++)
		for (int b = 1; b <= 12; b++)
			for (double x = .05; x < 1; x += .1) {
				int n = a + b - 1;
				double want = 0;

				for (int j = a; j <= n; j++)
					want +=
					    exp(lgamma(n + 1) - lgamma(j + 1) -
						lgamma(n - j + 1)) *
					    pow(x, j) * pow(1 - x, n - j);
				right = right &&
				    is_near(tdist_betainc(a, b, x), want);
			}
	tap_ok(right, "the incomplete beta function of whole numbers");
	right = true;
	for (double p = .001; p < 1; p += .0425)
		right = right &&
		    is_near(tdist_normal_cdf(tdist_normal_quantile(p)), p);
	tap_ok(right, "the normal quantile is the inverse of the distribution");
	right = true;
	for (double df = 1; df < 50; df += 3.5)
		for (double p = .0125; p < 1; p += .075)
			right = right &&
			    is_near(tdist_sf(tdist_quantile(p, df), df), 1 - p);
	tap_ok(right, "the quantile of Student's t inverts its tail");
}

int
main(void)
{
	check_moments();
	check_median_intervals();
	check_welch();
	check_courses();
	check_quantiles();
	check_beta();
	return tap_done();
}
