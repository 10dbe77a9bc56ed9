/*
 * Runs streams side by side: all connect, start together, and end on their own.
 * Private to the engine.
 */
#ifndef STREAMS_H
#define STREAMS_H

#include "engine.h"

struct rng;
struct run_options;

/*
 * Runs the streams of one server, or those of n servers in turns, in the order
 * that 'rng' chooses, as engine_run and engine_run_slices; 'rng' is NULL for
 * one server. The options are those of all streams, load by load. 'results' of
 * a load may be NULL. The first that fails ends the others.
 */
int streams_run(const struct engine_load *, size_t n, struct rng *,
    const struct run_options *, const volatile int *stop, engine_progress_fn *,
    void *arg);

#endif
