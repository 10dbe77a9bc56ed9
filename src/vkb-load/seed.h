/* How much data a popping command needs, and whether it is topped up. */
#ifndef SEED_H
#define SEED_H

#include <stdbool.h>
#include <stdint.h>

#include "engine.h"

struct run_options;

uint64_t seed_pops(const struct engine_target *, const struct engine_work *);
bool seed_refills(const struct engine_target *, const struct engine_work *);
unsigned seed_many(const struct engine_work *); /* elements per command */

/*
 * Sends each node of a cluster a request for each of its keys, one node after
 * the other, until one refuses some; *result, of zeroes before, is of the last.
 * 0, or -1 and said.
 */
int seed_keys(const struct engine_target *, const struct engine_work *,
    const struct run_options *, const volatile int *stop, engine_progress_fn *,
    void *arg, struct engine_result *result);

#endif
