/*
 * Finds single points of a series that are far off their level, and tells them
 * from short levels.
 */
#ifndef SPIKE_H
#define SPIKE_H

#include <stdbool.h>
#include <stddef.h>

#define SPIKE_Z 5          /* modified z of a spike: above this */
#define SPIKE_CHANCE .001  /* level of the tests */
enum { SPIKE_POINTS = 3 }; /* so many points in a row are a level, no spike */

/* Returns the relative size of a change between two values, in the direction in
 * which it is larger. */
double spike_size(double a, double b);

/*
 * Marks the outliers of a level, x[0..n-1]: points with a modified z above 5,
 * farther off than 'size', by the test of outlier.h, which finds up to a tenth
 * of the points.
 */
void spike_mark(const double *x, size_t n, double size, bool *out);

/*
 * Marks the points that are off the median of the points around them, 'reach' <
 * 3 on each side and fewer near an end, by more than 5 standard deviations of
 * the noise between neighbours. A step changes neither, so that a spike of at
 * most 'reach' points stands out beside one as well. Returns their number.
 */
size_t spike_suspect(const double *x, size_t n, size_t reach, bool *out);

/* Is 'v', which is not a part of the level x[0..n-1], an outlier of it, by its
 * modified z, its size and Student's t? */
bool spike_is_beyond(const double *x, size_t n, double v, double size);

/*
 * Tests whether a short stretch of a series differs from the rest by Student's
 * t, where so few points have too few permutations (energy.h): x[0..at-1]
 * beside x[at..n-1], 0 < at < n. Returns p; 1 if less than two thirds of the
 * shorter stretch, or fewer than SPIKE_POINTS of it, lie on its own side of the
 * middle between both means: a spike is not a level.
 *
 * Neighbours may resemble each other: with the lag-1 autocorrelation r of the
 * residuals, n points count as n / f (serial.h) for the error of a mean, the
 * variance and the degrees of freedom (Zwiers & von Storch, J. Climate 8,
 * 1995).
 */
double spike_test_stretch(const double *x, size_t n, size_t at);

#endif
