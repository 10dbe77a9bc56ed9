/*
 * Mann-Whitney's U test (1947), for the rule of benchstat: exact, given the
 * ties, for up to 30 values a side, else the normal approximation with
 * continuity correction.
 */
#ifndef RANKS_H
#define RANKS_H

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

struct ranks_item {
	double value;
	bool second;
};

static inline int
ranks_compare(const void *a, const void *b)
{
	const struct ranks_item *x = a, *y = b;

	return (x->value > y->value) - (x->value < y->value);
}

/* Returns how often each doubled rank sum of n of the items is reached, 0 to
 * 'top'; the ranks are doubled, so that those of ties are whole. Caller frees.
 */
static inline double *
ranks_count(const size_t *rank2, size_t all, size_t n, size_t top)
{
	double *ways = calloc((n + 1) * (top + 1), sizeof *ways);

	ways[0] = 1;
	for (size_t i = 0; i < all; i++)
		for (size_t k = n; k > 0; k--)
			for (size_t s = rank2[i]; s <= top; s++)
				ways[k * (top + 1) + s] +=
				    ways[(k - 1) * (top + 1) + s - rank2[i]];
	return ways;
}

/* Returns the two-sided p. m, n >= 1. */
static inline double
ranks_test(const double *x, size_t m, const double *y, size_t n)
{
	size_t all = m + n, seen = 0, middle = n * (all + 1);
	struct ranks_item *v = calloc(all, sizeof *v);
	size_t *rank2 = calloc(all, sizeof *rank2);
	double tied = 0, far = 0, sum = 0, off, a = (double)all;

	for (size_t i = 0; i < all; i++)
		v[i] = (struct ranks_item){i < m ? x[i] : y[i - m], i >= m};
	qsort(v, all, sizeof *v, ranks_compare);
	for (size_t i = 0, end; i < all; i = end) {
		double size;

		for (end = i + 1; end < all && v[end].value == v[i].value;)
			end++;
		size = (double)(end - i);
		tied += size * size * size - size;
		for (size_t k = i; k < end; k++) {
			rank2[k] = i + 1 + end;
			seen += v[k].second ? rank2[k] : 0;
		}
	}
	off = fabs((double)seen - (double)middle);
	if (m <= 30 && n <= 30) {
		size_t top = 2 * n * all;
		double *ways = ranks_count(rank2, all, n, top);

		for (size_t s = 0; s <= top; s++) {
			double w = ways[n * (top + 1) + s];

			sum += w;
			if (fabs((double)s - (double)middle) >= off)
				far += w;
		}
		free(ways);
	} else {
		double sd = sqrt((double)m * (double)n / 12 *
		    (a + 1 - tied / (a * (a - 1))));

		sum = 1;
		far = sd > 0 ? erfc(fmax(0, off / 2 - .5) / sd / sqrt(2)) : 1;
	}
	free(rank2);
	free(v);
	return far / sum;
}

#endif
