/*
 * Rank tests of two samples and the estimates that belong to them. x is the
 * baseline, y the contender; one value is one independent run.
 *
 * Sources: Mann & Whitney (1947); Wilcoxon (1945); Hodges & Lehmann (1963);
 * Hollander & Wolfe, Nonparametric Statistical Methods, ch. 3 and 4. The null
 * distribution is exact, given the ties: all assignments of the values seen
 * to the two sides are equally likely.
 */
#ifndef RANKTEST_H
#define RANKTEST_H

#include <stdbool.h>
#include <stddef.h>

struct ranktest {
	double stat;   /* U: pairs y > x, ties half; or V: ranks of d > 0 */
	size_t n;      /* values that took part */
	bool ties;     /* among the values (or |d|) */
	bool exact;    /* otherwise normal with continuity correction */
	double p_less; /* P(stat <= seen) */
	double p_greater;
	double p;     /* two-sided: as far from the middle as seen; never 0 */
	double p_min; /* the smallest p this many values can give */
};

/* Mann-Whitney U. Exact for m n <= 2500 (with ties: m, n <= 30). m, n >= 1. */
struct ranktest ranktest_mwu(
    const double *x, size_t m, const double *y, size_t n);

/* Wilcoxon's signed rank of paired differences, zeros dropped. */
struct ranktest ranktest_signed(const double *d, size_t n);

/* 2 U / (m n) - 1, in -1 .. 1. */
double ranktest_cliff(double u, size_t m, size_t n);

/*
 * All m n ratios y/x (x > 0, y >= 0), or all n (n + 1) / 2 Walsh averages
 * (d_i + d_j) / 2, i <= j: their median is the estimate, and the k-th from
 * either end bound its interval. Up to a million they are laid out, beyond
 * that each is searched for.
 */
struct ranktest_pairs;

struct ranktest_pairs *ranktest_ratios(
    const double *x, size_t m, const double *y, size_t n);
struct ranktest_pairs *ranktest_walsh(const double *d, size_t n);
void ranktest_pairs_free(struct ranktest_pairs *);
double ranktest_pairs_median(const struct ranktest_pairs *); /* of 0: NAN */

/*
 * The interval that covers at least 'want' (.95); *covers, where given, is
 * what it really covers. false: too few values for one.
 */
bool ranktest_pairs_ci(const struct ranktest_pairs *, double want, double *lo,
    double *hi, double *covers);

#endif
