#include "spike.h"
#include "mem.h"
#include "outlier.h"
#include "serial.h"
#include "stats.h"
#include "tdist.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

double
spike_size(double a, double b)
{
	return a == b ? 0 : fmax(fabs(b / a - 1), fabs(a / b - 1));
}

/* Is another marked point on the same side of the middle less than SPIKE_POINTS
 * away, so that both may belong to one level? */
static bool
has_neighbour(
    const double *x, const bool *out, size_t n, size_t i, double middle)
{
	size_t from = i < SPIKE_POINTS ? 0 : i - SPIKE_POINTS + 1;

	for (size_t k = from; k < n && k < i + SPIKE_POINTS; k++)
		if (k != i && out[k] && (x[k] > middle) == (x[i] > middle))
			return true;
	return false;
}

/* If some outliers have no such neighbour, unmarks those that have one: they
 * may belong to a level, which shows once the isolated ones are removed. */
static void
keep_isolated_outliers(const double *x, bool *out, size_t n, double middle)
{
	bool *isolated = mem_array(n, sizeof *isolated), any = false;

	for (size_t i = 0; i < n; i++) {
		isolated[i] = out[i] && !has_neighbour(x, out, n, i, middle);
		any = any || isolated[i];
	}
	if (any)
		memcpy(out, isolated, n * sizeof *out);
	free(isolated);
}

/* Sets the median of the points, and returns their MAD. */
static double
measure_spread(const double *x, size_t n, double *median)
{
	double *sorted = stats_sorted(x, n), mad = stats_mad(sorted, n);

	*median = stats_median(sorted, n);
	free(sorted);
	return mad;
}

void
spike_mark(const double *x, size_t n, double size, bool *out)
{
	size_t suspects = 0, most = n / 10 ? n / 10 : 1, found;
	double median, mad = measure_spread(x, n, &median);
	struct outlier *far;

	for (size_t i = 0; i < n; i++)
		suspects += stats_modified_z(x[i], median, mad) > SPIKE_Z;
	if (!suspects)
		return;
	/* More would be ambiguous: either half of a level could be far off. */
	most = suspects < most ? suspects : most;
	far = mem_array(n, sizeof *far);
	found = outlier_gesd(x, n, most, SPIKE_CHANCE, far, &suspects);
	for (size_t i = 0; i < found; i++) {
		double v = x[far[i].at];

		if (stats_modified_z(v, median, mad) > SPIKE_Z &&
		    spike_size(median, v) > size)
			out[far[i].at] = true;
	}
	keep_isolated_outliers(x, out, n, median);
	free(far);
}

/* Returns the standard deviation of noise by the differences of neighbours, of
 * which a step changes one, and a spike two. n > 1. */
static double
measure_noise(const double *x, size_t n)
{
	double *d = mem_array(n, sizeof *d), middle;

	for (size_t i = 1; i < n; i++)
		d[i - 1] = fabs(x[i] - x[i - 1]);
	middle = stats_middle(d, n - 1);
	free(d);
	return 1.4826 * middle / sqrt(2);
}

size_t
spike_suspect(const double *x, size_t n, size_t reach, bool *out)
{
	double noise = n > 1 ? measure_noise(x, n) : INFINITY;
	double around[2 * SPIKE_POINTS - 1];
	size_t found = 0;

	for (size_t i = 0; i < n; i++) {
		size_t end = i < n - 1 - i ? i : n - 1 - i;
		size_t k = reach < end ? reach : end, wide = 2 * k + 1;

		memcpy(around, x + i - k, wide * sizeof *around);
		out[i] =
		    fabs(x[i] - stats_middle(around, wide)) > SPIKE_Z * noise;
		found += out[i];
	}
	return found;
}

bool
spike_is_beyond(const double *x, size_t n, double v, double size)
{
	double median, mad = measure_spread(x, n, &median), mean, t;

	if (n < SPIKE_POINTS || spike_size(median, v) <= size ||
	    stats_modified_z(v, median, mad) <= SPIKE_Z)
		return false;
	t = stats_squares(x, n, &mean) / (double)(n - 1);
	t = fabs(v - mean) / sqrt(t * (1 + 1 / (double)n));
	return 2 * tdist_sf(t, (double)(n - 1)) < SPIKE_CHANCE;
}

/* Are enough of the points above the middle, or below it? */
static bool
is_stretch_level(const double *x, size_t n, double middle, bool above)
{
	size_t own = 0;

	for (size_t i = 0; i < n; i++)
		own += x[i] != middle && (x[i] > middle) == above;
	return own >= SPIKE_POINTS && 3 * own >= 2 * n;
}

double
spike_test_stretch(const double *x, size_t n, size_t at)
{
	const double *v[2] = {x, x + at};
	size_t len[2] = {at, n - at}, less = at > n - at;
	double mean[2], ss = 0, products = 0, df = -2, left = 0, weight = 0, r;

	for (size_t j = 0; j < 2; j++) {
		ss += stats_squares(v[j], len[j], &mean[j]);
		for (size_t i = 1; i < len[j]; i++)
			products +=
			    (v[j][i] - mean[j]) * (v[j][i - 1] - mean[j]);
	}
	if (!is_stretch_level(v[less], len[less], (mean[0] + mean[1]) / 2,
		mean[less] > mean[!less]))
		return 1;
	if (!(ss > 0))
		return 0;
	r = serial_correct(products / ss, n);
	for (size_t j = 0; j < 2; j++) {
		double f = serial_inflation(r, (double)len[j]);

		df += (double)len[j] / f;
		left += (double)len[j] - f;
		weight += f / (double)len[j];
	}
	if (df < 1)
		return 1;
	return 2 *
	    tdist_sf(fabs(mean[1] - mean[0]) / sqrt(ss / left * weight), df);
}
