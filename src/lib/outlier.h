/*
 * Finds outliers in the history of a metric with the generalized extreme
 * Studentized deviate (ESD) test. For the few runs of one case use
 * stats_modified_z.
 *
 * Source: Rosner, "Percentage Points for a Generalized ESD Many-Outlier
 * Procedure", Technometrics 25 (1983); NIST/SEMATECH e-Handbook 1.3.5.17.3.
 * It assumes that the other values are normal, and needs about 25 values.
 */
#ifndef OUTLIER_H
#define OUTLIER_H

#include <stddef.h>

/* The value farthest from the mean of the values that are left. */
struct outlier {
	size_t at;     /* its index; the first of equal values */
	double r;      /* distance in standard deviations of the values left */
	double lambda; /* critical value of r at this level */
};

/*
 * Looks for up to 'most' outliers (fewer than n - 1). 'out' has room for 'most'
 * entries; *looked is the number of entries filled. Returns the number of
 * outliers, which are the first entries of 'out'. Stops if the values left are
 * all equal. Values are finite. Takes O(n log n).
 */
size_t outlier_gesd(const double *v, size_t n, size_t most, double alpha,
    struct outlier *out, size_t *looked);

#endif
