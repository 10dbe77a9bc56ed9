/* Writes what the engine measured into the sections of a run record. */
#ifndef RESULTRECORD_H
#define RESULTRECORD_H

#include <stddef.h>

struct engine_result;
struct json;
struct watch_cost;

/*
 * Sets metrics, hist, series, samples, errors and bound. NAN is left out, and
 * so is what a command of a mix shares with the others: the cost is then NULL.
 */
void result_record_set(
    struct json *run, const struct engine_result *, const struct watch_cost *);

/*
 * Copies what an engine added to 'run' and 'env' of the first of n records to
 * the others.
 */
void result_record_copy_facts(struct json *const *recs, size_t n);

/*
 * Combines the metrics of n loads that ran at the same time: throughput and
 * counts are summed, latencies and all else are the maximum. The caller frees
 * the result with json_free.
 */
struct json *result_record_merge(const struct json *const *metrics, size_t n);

#endif
