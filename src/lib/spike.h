/*
 * Finds single points of a series that are far off their level.
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

#endif
