/* A level of a series: points in a row with a mean of their own. */
#ifndef LEVEL_H
#define LEVEL_H

#include <stdbool.h>
#include <stddef.h>

/* Points x[from..from+n-1]. */
struct level {
	size_t from, n;
	double mean, m2; /* sum of (x - mean)^2 */
	/* The change at its start: */
	double p;
	size_t lo, hi;      /* where it may be */
	size_t first, last; /* points it was tested with, last >= 1 */
	bool rare;          /* p is that of stretch_test */
	size_t seen[2];     /* points of its two sides when Otava tested it */
};

/* The level of the points from..to-1. */
struct level level_measure(const double *x, size_t from, size_t to);

/*
 * Two neighbours as one level: Chan, Golub & LeVeque, American Statistician 37
 * (1983). All but from, n, mean and m2 is that of 'a'.
 */
struct level level_merge(const struct level *a, const struct level *b);

/*
 * Returns p of Student's t test that both have the same mean; 1 if they have
 * too few points. Apache Otava uses the variances of populations.
 */
double level_p(const struct level *a, const struct level *b, bool otava);

/* Returns how large the step is, as spike_size() defines it. */
double level_size(const struct level *a, const struct level *b);

#endif
