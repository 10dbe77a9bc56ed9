/*
 * What the runs of one metric say about its noise: where it comes from, whether
 * it drifts, how many more runs a wanted precision takes.
 */
#ifndef SPREAD_H
#define SPREAD_H

#include <stdbool.h>
#include <stddef.h>

#include "varsplit.h"

struct json;

/*
 * Sets split, advice, drift_percent, drifting and precision of a metric that
 * has its median, mean and ci95 already. Runs of one session stand together,
 * in the order in which they were made where 'timed'. 'wanted' is a relative
 * half width; 0: nobody asked.
 */
void spread_add(struct json *metric, const struct varsplit_run *, size_t n,
    bool timed, double wanted);

#endif
