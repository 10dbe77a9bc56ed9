/*
 * Runs side by side: all connect, one gate starts them, each has its threads
 * and its end. Private to the engine.
 */
#ifndef STREAMS_H
#define STREAMS_H

#include "engine.h"

struct run_options;

/*
 * 'works' with 'options', n of each; 'meter' and 'results' may be NULL. As
 * engine_run, and the first that fails ends the others.
 */
int streams_run(const struct engine_target *, const struct engine_work *works,
    const struct run_options *options, size_t n, const volatile int *stop,
    engine_progress_fn *, void *arg, const struct engine_meter *,
    struct engine_result *results);

#endif
