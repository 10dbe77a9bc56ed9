#include "outlier.h"
#include "mem.h"
#include "stats.h"
#include "tdist.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Of 'left' values before one is taken away. */
static double
critical(size_t left, double alpha)
{
	double n = (double)left;
	double t = tdist_quantile(1 - alpha / (2 * n), n - 2);

	return (n - 1) * t / sqrt((n - 2 + t * t) * n);
}

static size_t
farthest(const double *v, size_t n, double mean)
{
	size_t at = 0;

	for (size_t i = 1; i < n; i++)
		if (fabs(v[i] - mean) > fabs(v[at] - mean))
			at = i;
	return at;
}

size_t
outlier_gesd(const double *v, size_t n, size_t most, double alpha,
    struct outlier *out, size_t *looked)
{
	double *left = mem_array(n + 1, sizeof *left), mean, sd;
	size_t *at = mem_array(n + 1, sizeof *at), found = 0, k;

	for (size_t i = 0; i < n; i++) {
		left[i] = v[i];
		at[i] = i;
	}
	for (*looked = 0; *looked < most && n > 2; n--) {
		sd = stats_sd(left, n);
		if (!(sd > 0))
			break;
		mean = stats_mean(left, n);
		k = farthest(left, n, mean);
		out[*looked] = (struct outlier){
		    at[k], fabs(left[k] - mean) / sd, critical(n, alpha)};
		if (out[*looked].r > out[*looked].lambda)
			found = *looked + 1;
		++*looked;
		memmove(left + k, left + k + 1, (n - k - 1) * sizeof *left);
		memmove(at + k, at + k + 1, (n - k - 1) * sizeof *at);
	}
	free(left);
	free(at);
	return found;
}
