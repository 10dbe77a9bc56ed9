/*
 * Tests whether a short stretch of a series differs from the rest by Student's
 * t, where so few points have too few permutations (energy.h).
 *
 * Neighbours may resemble each other: with the lag-1 autocorrelation r of the
 * residuals, n points count as n / f (serial.h) for the error of a mean, the
 * variance and the degrees of freedom (Zwiers & von Storch, J. Climate 8,
 * 1995).
 */
#ifndef STRETCH_H
#define STRETCH_H

#include <stddef.h>

/* Returns p for x[0..at-1] beside x[at..n-1], 0 < at < n. It is 1 if less than
 * two thirds of the shorter stretch, or fewer than 3 points of it, lie on its
 * own side of the middle between both means: a spike is not a level. */
double stretch_test(const double *x, size_t n, size_t at);

#endif
