#include "serial.h"
#include "mem.h"
#include "stats.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#define BY_CHANCE 1.645

/* Counts the sorted values below v, or if 'up_to', up to v. */
static size_t
count_below(const double *sorted, size_t n, double v, bool up_to)
{
	size_t lo = 0, hi = n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (sorted[mid] < v || (up_to && sorted[mid] == v))
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/* Sums the squares, and the products of neighbours, of the centred ranks. */
static void
sum_rank_products(const double *v, size_t n, double *own, double *next)
{
	double *sorted = stats_sorted(v, n), before = 0, rank;

	*own = *next = 0;
	for (size_t i = 0; i < n; i++) {
		rank = (double)(count_below(sorted, n, v[i], false) +
			   count_below(sorted, n, v[i], true)) -
		    (double)n;
		*own += rank * rank;
		*next += before * rank;
		before = rank;
	}
	free(sorted);
}

static double
compute_effective_size(double r, size_t n)
{
	double sum = 0, power = 1;

	for (size_t k = 1; k < n && power > 1e-12; k++) {
		power *= r;
		sum += (1 - (double)k / (double)n) * power;
	}
	return (double)n / (1 + 2 * sum);
}

struct serial
serial_independent(size_t m, size_t n)
{
	return (struct serial){0, {(double)m, (double)n}};
}

struct serial
serial_measure(const double *x, size_t m, const double *y, size_t n)
{
	struct serial s = serial_independent(m, n);
	double own[2], next[2], mid = (double)(m + n) / 2, r;

	if (m < SERIAL_LEAST || n < SERIAL_LEAST)
		return s;
	sum_rank_products(x, m, &own[0], &next[0]);
	sum_rank_products(y, n, &own[1], &next[1]);
	if (!(own[0] + own[1] > 0))
		return s;
	r = (next[0] + next[1]) / (own[0] + own[1]);
	r = fmin((r + 1 / mid) / (1 - 3 / mid), .99);
	if (r <= BY_CHANCE / sqrt((double)(m + n)))
		return s;
	return (struct serial){
	    r, {compute_effective_size(r, m), compute_effective_size(r, n)}};
}

double
serial_inflation(const struct serial *s, size_t m, size_t n)
{
	return (1 / s->effective[0] + 1 / s->effective[1]) /
	    (1 / (double)m + 1 / (double)n);
}

double
serial_se(
    const struct serial *s, size_t m, size_t n, const double sd[2], double *df)
{
	const double runs[2] = {(double)m, (double)n};
	double var[2], free = 0;

	for (size_t j = 0; j < 2; j++) {
		var[j] = sd[j] * sd[j] * (runs[j] - 1) /
		    (runs[j] * (s->effective[j] - 1));
		free += var[j] * var[j] / (s->effective[j] - 1);
	}
	*df = fmax(1, (var[0] + var[1]) * (var[0] + var[1]) / free);
	return sqrt(var[0] + var[1]);
}
