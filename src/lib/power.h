/*
 * How many runs: for a change of a given size, for a smallest p, for a width.
 * Counts are of each side, or of pairs.
 *
 * Sources: noncentral t (e.g. Cohen, Statistical Power Analysis, ch. 2); the
 * rank tests have .955 of its efficiency on normal noise (Hodges & Lehmann
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
 * How many runs the rank tests need at level .05 and power .8: at least
 * POWER_RUNS or POWER_PAIRS; 0 where it would be a million or more. 'cv' is the
 * deviation of ln(value), or of ln(y/x) where paired; 'effect' the relative
 * change that is to be seen (.02, or -.02).
 */
size_t power_runs(double cv, double effect, bool paired);

/*
 * The smallest relative decrease that m and n runs (or n pairs) of this noise
 * would show at level .05 with power .8, as a part of 1; where m and n differ,
 * as if both were the smaller. NAN where there are too few or no noise.
 */
double power_visible(double cv, size_t m, size_t n, bool paired);

/* The least whose smallest p passes at alpha as one of 'tests' (Holm). */
size_t power_least(bool paired, size_t tests, double alpha);

/*
 * How many more values until the interval of the centre that stats_ci gives, of
 * half width 'now' with the n there are, is expected to be no wider than
 * 'wanted'. 0: it is; SIZE_MAX: it cannot be said. Without an interval yet, as
 * many as give one.
 */
size_t power_more(double now, double wanted, size_t n, double conf);

#endif
