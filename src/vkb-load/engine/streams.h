/*
 * Runs streams side by side: all connect, start together, and end on their own.
 * Private to the engine.
 */
#ifndef STREAMS_H
#define STREAMS_H

#include "engine.h"

struct run_options;

/*
 * As engine_run, for n works with their options; 'meter' and 'results' may be
 * NULL. The first that fails ends the others.
 */
int streams_run(const struct engine_target *, const struct engine_work *works,
    const struct run_options *options, size_t n, const volatile int *stop,
    engine_progress_fn *, void *arg, const struct engine_meter *,
    struct engine_result *results);

#endif
