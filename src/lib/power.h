/*
 * How many runs are needed for a smallest p, or for the width of an interval.
 * Counts are of each side, or of pairs.
 */
#ifndef POWER_H
#define POWER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { POWER_RUNS = 4, POWER_PAIRS = 6 }; /* at least */

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
