#include "stretch.h"
#include "serial.h"
#include "spike.h"
#include "stats.h"
#include "tdist.h"

#include <math.h>
#include <stdbool.h>

/* Are enough of the points above the middle, or below it? */
static bool
is_level(const double *x, size_t n, double middle, bool above)
{
	size_t own = 0;

	for (size_t i = 0; i < n; i++)
		own += x[i] != middle && (x[i] > middle) == above;
	return own >= SPIKE_POINTS && 3 * own >= 2 * n;
}

double
stretch_test(const double *x, size_t n, size_t at)
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
	if (!is_level(v[less], len[less], (mean[0] + mean[1]) / 2,
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
