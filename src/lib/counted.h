/*
 * Runs that were counted under callgrind beside runs that were measured. A
 * metric that both have, as bytes_per_key, is exact in counted runs only, and
 * differs between the two: they are not mixed.
 */
#ifndef COUNTED_H
#define COUNTED_H

#include <stdbool.h>
#include <stddef.h>

struct metric;

/* The metric that only counted runs have. */
#define COUNTED_METRIC "instructions_per_req"

/* Can the metric be exact, because counted runs have it as well as measured
 * ones? */
bool counted_may_be(const struct metric *);

/* Makes it exact, with its margin: all its values are of counted runs. */
void counted_make_exact(struct metric *);

/*
 * Of the values of runs, which may be NAN, keeps those that were counted, or
 * those that were not, and sets the others to NAN. 'counts' are the values of
 * COUNTED_METRIC of the same runs. Returns how many were left out.
 */
size_t counted_keep(bool counted, double *v, const double *counts, size_t n);

/* Has a run both a value and a count? */
bool counted_any(const double *v, const double *counts, size_t n);

#endif
