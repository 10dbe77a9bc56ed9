/*
 * Rank tests of two samples, with their estimates and intervals. x is the
 * baseline, y the contender; each value is one independent run.
 *
 * Sources: Mann & Whitney (1947); Wilcoxon (1945); Hodges & Lehmann (1963);
 * Hollander & Wolfe, Nonparametric Statistical Methods, ch. 3 and 4. The null
 * distribution is exact, given the ties: all assignments of the observed values
 * to the two sides are equally likely.
 */
#ifndef RANKTEST_H
#define RANKTEST_H

#include <stdbool.h>
#include <stddef.h>

struct ranktest {
	double stat;  /* U: pairs y > x, ties half; or V: ranks of d > 0 */
	size_t n;     /* values used */
	bool exact;   /* false: normal with continuity correction */
	double p;     /* two-sided; above 0 */
	double p_min; /* the smallest p that this many values can give */
};

/* Mann-Whitney U. Exact for m n <= 2500 (with ties: m, n <= 30). m, n >= 1. */
struct ranktest ranktest_mwu(
    const double *x, size_t m, const double *y, size_t n);

/* Wilcoxon's signed rank of paired differences, zeros dropped. */
struct ranktest ranktest_signed(const double *d, size_t n);

/* Cliff's delta, 2 U / (m n) - 1, in -1 .. 1. */
double ranktest_cliff(double u, size_t m, size_t n);

/*
 * All m n ratios y/x (x > 0, y >= 0), or all n (n + 1) / 2 Walsh averages
 * (d_i + d_j) / 2, i <= j. Their median is the estimate; the k-th smallest and
 * k-th largest bound its interval. Up to 2^20 pairs are stored; in more pairs
 * a value is found by bisection. Caller frees with ranktest_pairs_free.
 */
struct ranktest_pairs;

struct ranktest_pairs *ranktest_ratios(
    const double *x, size_t m, const double *y, size_t n);
struct ranktest_pairs *ranktest_walsh(const double *d, size_t n);
void ranktest_pairs_free(struct ranktest_pairs *);
double ranktest_pairs_median(const struct ranktest_pairs *); /* no pair: NAN */

/*
 * The interval with coverage of at least 'want' (.95). Returns false if there
 * are too few values.
 */
bool ranktest_pairs_ci(
    const struct ranktest_pairs *, double want, double *lo, double *hi);

#endif
