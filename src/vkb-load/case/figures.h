/* What the engine measured, as the rooms of a run record. */
#ifndef FIGURES_H
#define FIGURES_H

#include <stddef.h>

struct engine_result;
struct json;
struct watch_cost;

/* Sets metrics, hist, series, errors and bound. What is NAN stays absent. */
void figures_set(
    struct json *run, const struct engine_result *, const struct watch_cost *);

/*
 * Metrics of n that worked at the same time as one: what they did adds up, of
 * the latencies it is the worst. New, the caller's.
 */
struct json *figures_together(const struct json *const *metrics, size_t n);

#endif
