/*
 * How many values do not belong to the rest: the generalized extreme
 * Studentized deviate test, for histories of a metric. Of the few runs of one
 * case stats_modified_z says more.
 *
 * Source: Rosner, "Percentage Points for a Generalized ESD Many-Outlier
 * Procedure", Technometrics 25 (1983); NIST/SEMATECH e-Handbook 1.3.5.17.3.
 * It takes the rest as normal, and is good from about 25 values on.
 */
#ifndef OUTLIER_H
#define OUTLIER_H

#include <stddef.h>

/* The value farthest from the mean of those that are left. */
struct outlier {
	size_t at;     /* its place in the values; the first of equal ones */
	double r;      /* how far, in standard deviations of those left */
	double lambda; /* what r must exceed, at this level */
};

/*
 * Up to 'most' outliers (fewer than n - 1) are looked for; out has room for
 * 'most', and *looked says how many steps there were. How many are outliers:
 * the first so many of 'out'. Stops where those left are all equal. Values are
 * finite. The cost is that of sorting them.
 */
size_t outlier_gesd(const double *v, size_t n, size_t most, double alpha,
    struct outlier *out, size_t *looked);

#endif
