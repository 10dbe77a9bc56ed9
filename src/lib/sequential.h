/*
 * Group-sequential tests: the level of the test at each look at growing data,
 * such that all looks together have a false alarm with probability alpha.
 *
 * Sources: Lan & DeMets, "Discrete sequential boundaries for clinical trials",
 * Biometrika 70 (1983): alpha is spent as a function of the information t; here
 * the Pocock-like alpha ln(1 + (e - 1) t). Levels by the recursive integration
 * of Armitage, McPherson & Rowe (1969).
 *
 * Why this function: a rank test of 5 + 5 runs gives no p below .0079 and one
 * of 4 + 4 none below .0286. O'Brien & Fleming's function allows less for the
 * first looks (.0001 at a third of the runs), so that an early look could never
 * find or bound a change; this one allows .0126 at a sixth. Exact p values are
 * conservative, so the sum over the looks stays below alpha.
 */
#ifndef SEQUENTIAL_H
#define SEQUENTIAL_H

#include <stddef.h>

/*
 * Computes the two-sided nominal level of each of k looks at the fractions t of
 * the runs (rising, the last 1). The p of look i is compared with level[i]; its
 * interval covers 1 - level[i] (a repeated confidence interval). 0 < alpha < 1;
 * error below 1e-9. A look that comes less than 1e-4 of its runs after the look
 * before shares that look's level. A look at t <= 0 has level 0.
 */
void sequential_levels(const double *t, size_t k, double alpha, double *level);

/*
 * Plans the looks: counts of runs from min to max, each about 3/2 of the one
 * before: min (max/min)^(i/steps), rounded, with the fewest steps that keep the
 * ratio at most 3/2. 1 <= min <= max <= 1e6. Returns the number of looks;
 * 'looks' has room for SEQUENTIAL_LOOKS.
 */
enum { SEQUENTIAL_LOOKS = 40 };
size_t sequential_looks(size_t min, size_t max, double *looks);

#endif
