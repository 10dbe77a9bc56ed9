/*
 * Tests whether two stretches of a series differ, by the statistic Q of
 * E-divisive (Matteson & James, JASA 109, 2014, with alpha = 1): their energy
 * distance times nm / (n + m), from sums of |x_i - x_j| over pairs i < j.
 */
#ifndef ENERGY_H
#define ENERGY_H

#include <stddef.h>

/* Sets g[i * (n + 1) + j], of (n + 1)^2, to the sum over pairs of x[i..j-1]. */
void energy_sums(const double *x, size_t n, double *g);

/* Returns inv[i] = 1 / i up to n, with inv[0] = 0; the caller frees it. */
double *energy_inverses(size_t n);

/* Returns Q of n points beside m, from the sums within the first (xx), within
 * the second (yy) and of all pairs. A single point has no sum within. */
static inline double
energy_q(
    const double *inv, size_t n, size_t m, double xx, double yy, double all)
{
	return 2 * inv[n + m] *
	    (all - xx - yy - (double)m * inv[n - 1] * xx -
		(double)n * inv[m - 1] * yy);
}

struct energy_split {
	double p;      /* of the permutations */
	size_t lo, hi; /* first points of the second stretch for which Q is
			* at least .95 of its maximum; 'at' is among them */
};

/*
 * Tests whether x[0..at-1] and x[at..n-1] differ by more than chance, 0 < at <
 * n. Q is the maximum over all places. p = (1 + #{Q* >= Q}) / (1 + 999), by
 * permutations of all points (up to 99999 if 'limit' is below .001); a p
 * above 'limit' is estimated from fewer, as soon as that is certain (Besag &
 * Clifford, Biometrika 78, 1991). Where neighbours resemble each other (lag-1
 * autocorrelation of the residuals r >= .1), blocks of ceil((2 r / (1 -
 * r^2))^(2/3) n^(1/3)) points are permuted (Carlstein, Annals of Statistics 14,
 * 1986), cut at any offset, at most n / 8 long. The seed comes from the ranks,
 * so the unit does not matter.
 */
struct energy_split energy_test_split(
    const double *x, size_t n, size_t at, double limit);

#endif
