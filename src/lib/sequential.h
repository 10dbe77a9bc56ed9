/*
 * Looking more than once: levels of the tests at each look at data that still
 * grow, so that all looks together keep the chance of a false alarm at alpha.
 *
 * Sources: Lan & DeMets, "Discrete sequential boundaries for clinical trials",
 * Biometrika 70 (1983): alpha is spent by a function of the information; the
 * Pocock-like one is used, alpha ln(1 + (e - 1) t). Levels by the recursive
 * integration of Armitage, McPherson & Rowe (1969).
 */
#ifndef SEQUENTIAL_H
#define SEQUENTIAL_H

#include <stddef.h>

/* What may be spent up to the part t (0..1) of the runs. */
double sequential_spend(double t, double alpha);

/*
 * Two-sided nominal level of each of k looks at the parts t (rising, the last
 * 1). level[i] is what the p of look i is held against, and 1 - level[i] what
 * its interval covers (a repeated confidence interval).
 */
void sequential_levels(const double *t, size_t k, double alpha, double *level);

/*
 * The level for n runs of a session that looked at 'looks' (rising counts of
 * runs): that of the look n has reached, of the first one below it. alpha
 * where there are no looks.
 */
double sequential_level(const double *looks, size_t k, size_t n, double alpha);

#endif
