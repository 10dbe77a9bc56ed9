/* Writes what the engine measured into the sections of a run record. */
#ifndef FIGURES_H
#define FIGURES_H

#include <stddef.h>

struct engine_result;
struct json;
struct watch_cost;

/* Sets metrics, hist, series, samples, errors and bound. NAN is left out. */
void figures_set(
    struct json *run, const struct engine_result *, const struct watch_cost *);

/*
 * Combines the metrics of n loads that ran at the same time: throughput and
 * counts are summed, latencies and all else are the maximum. The caller frees
 * the result with json_free.
 */
struct json *figures_together(const struct json *const *metrics, size_t n);

#endif
