/*
 * The noise of one metric over its runs: where it comes from, whether the
 * metric drifts, and how many more runs the wanted precision takes.
 */
#ifndef PRECISION_H
#define PRECISION_H

#include <stdbool.h>
#include <stddef.h>

#include "variance.h"

struct json;

/*
 * Sets split, advice, drift_percent, drifting and precision of a metric, which
 * has median, mean and ci95. Runs of one session are adjacent, and in the order
 * of time if 'timed'. 'wanted' is a relative half width; 0: none is wanted.
 */
void precision_add(struct json *metric, const struct variance_run *, size_t n,
    bool timed, double wanted);

#endif
