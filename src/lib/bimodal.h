/*
 * Finds runs that form two groups, such as those of a server that is slow after
 * some of its starts.
 */
#ifndef BIMODAL_H
#define BIMODAL_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Do the values fall into two groups? Splits them in two, with at least a fifth
 * on each side, where the distance of the means in standard deviations (pooled,
 * within the sides) is largest: the two-means split and the ratio of the
 * variance between to that within the clusters, of Engelman and Hartigan,
 * "Percentage Points of a Test for Clusters", J. Am. Stat. Assoc. 64 (1969),
 * 1647-1648. Returns true if the distance is above a limit that falls with n;
 * false if n < 10.
 *
 * The limits were simulated: at any n at most 1 sample in 20 of normal,
 * uniform, exponential or lognormal noise (sigma of logarithms up to 1) looks
 * like two groups, and fewer than 1 in 100 of normal noise. Two groups of equal
 * size, 6 standard deviations apart, are found in 3 of 10 samples of 10 values,
 * 8 of 10 with 20 and all with 40.
 *
 * If there are ties, values are taken as rounded: step^2 / 12 is added to the
 * variance (Sheppard 1898), where step is the smallest difference, at most 2 %
 * of the median. So the steps of a coarse clock are not taken for groups.
 */
bool bimodal_detect(const double *sorted, size_t n);

#endif
