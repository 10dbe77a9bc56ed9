/*
 * Looking more than once: levels of the tests at each look at data that still
 * grow, so that all looks together keep the chance of a false alarm at alpha.
 *
 * Sources: Lan & DeMets, "Discrete sequential boundaries for clinical trials",
 * Biometrika 70 (1983): alpha is spent by a function of the information; the
 * Pocock-like one is used, alpha ln(1 + (e - 1) t). Levels by the recursive
 * integration of Armitage, McPherson & Rowe (1969).
 *
 * Why this function: a rank test of 5 + 5 runs gives no p below .0079 and one
 * of 4 + 4 none below .0286. Those like O'Brien & Fleming's leave less than
 * that for the first looks (.0001 at a third of the runs), so that no early
 * look could ever find or bound anything; this one leaves .0126 at a sixth.
 * Exact p values are conservative, so the sum over the looks stays below alpha.
 */
#ifndef SEQUENTIAL_H
#define SEQUENTIAL_H

#include <stddef.h>

/*
 * Two-sided nominal level of each of k looks at the parts t (rising, the last
 * 1). level[i] is what the p of look i is held against, and 1 - level[i] what
 * its interval covers (a repeated confidence interval). 0 < alpha < 1; error
 * below 1e-9. A look that is less than a ten-thousandth of its runs later than
 * the one before is no look of its own, and has that one's level; one at t <= 0
 * has level 0.
 */
void sequential_levels(const double *t, size_t k, double alpha, double *level);

/*
 * The level for n runs of a session that looked at 'looks' (rising counts of
 * runs): that of the look with n runs; between two looks the smaller of both;
 * before the first one that of the first, after the last one that of the last.
 * alpha where there are no looks.
 */
double sequential_level(const double *looks, size_t k, size_t n, double alpha);

/*
 * When to look: counts of runs from min to max, both looked at, each about half
 * as many again as the one before: min (max/min)^(i/steps), rounded, with as
 * few steps as keep the ratio at 3/2. 1 <= min <= max <= 1e6. How many; looks
 * has room for SEQUENTIAL_LOOKS.
 */
enum { SEQUENTIAL_LOOKS = 40 };
size_t sequential_looks(size_t min, size_t max, double *looks);

#endif
