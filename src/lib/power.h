/*
 * How many runs are needed for a change of a given size, for a smallest p, or
 * for the width of an interval. Counts are of each side, or of pairs.
 *
 * Sources: noncentral t (e.g. Cohen, Statistical Power Analysis, ch. 2); rank
 * tests have .955 of the t test's efficiency on normal noise (Hodges & Lehmann
 * 1956); the smallest visible change by t quantiles (Julious, Statistics in
 * Medicine 23, 2004).
 */
#ifndef POWER_H
#define POWER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { POWER_RUNS = 4, POWER_PAIRS = 6 }; /* at least */

/*
 * Returns how many runs the rank tests need at level .05 and power .8: at least
 * POWER_RUNS or POWER_PAIRS; 0 for a million or more. 'cv' is the standard
 * deviation of ln(value), or of ln(y/x) if paired; 'effect' is the relative
 * change to be detected (.02, or -.02).
 */
size_t power_runs(double cv, double effect, bool paired);

/*
 * Returns the smallest relative decrease that m and n runs (or n pairs) of this
 * noise detect at level .05 with power .8, as a fraction. If m and n differ,
 * both count as the smaller. NAN if there are too few runs or no noise.
 */
double power_visible(double cv, size_t m, size_t n, bool paired);

/* Returns the smallest number of runs (or pairs) whose smallest possible p is
 * significant at alpha as one of 'tests' (Holm); SIZE_MAX for alpha 0. */
size_t power_least_runs(bool paired, size_t tests, double alpha);

/*
 * Returns how many more values are expected to narrow the interval of stats_ci
 * from the half width 'now' (with n values) to 'wanted'. 0: it is narrow
 * enough; SIZE_MAX: unknown. If n < 3, returns how many values are missing for
 * an interval.
 */
size_t power_more_runs(double now, double wanted, size_t n, double conf);

#endif
