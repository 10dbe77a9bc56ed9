/* Writes what the engine measured into the sections of a run record. */
#ifndef RESULTRECORD_H
#define RESULTRECORD_H

#include <stdbool.h>
#include <stddef.h>

struct engine_result;
struct json;
struct watch_cost;

/*
 * Sets metrics, hist, series, samples, errors and bound; NAN is left out. A
 * 'part' is a command of a mix or trace: it has the metrics of the machine, but
 * not the cost of the whole load, which its record would count again.
 */
void result_record_set(struct json *run, const struct engine_result *,
    const struct watch_cost *, bool part);

/* Makes it the record of a run that failed, for this reason. */
void result_record_fail(struct json *run, const char *why);

/* Returns which server the reference is, by a run of it: what is repeated in
 * 'env' of the runs beside it. Caller frees. */
struct json *result_record_describe_reference(const struct json *run);

/*
 * Adds these facts to a run in a closed loop, and its ratios to the run of the
 * reference in the same block; NULL: that failed.
 */
void result_record_set_reference(
    struct json *run, const struct json *facts, const struct json *reference);

/*
 * Copies what the first of n records of a run has in 'subject', 'run' and 'env'
 * to those that lack it, which an engine or a server added.
 */
void result_record_copy_facts(struct json *const *recs, size_t n);

/*
 * Combines the metrics of n loads that ran at the same time: throughput and
 * counts are summed, latencies and all else are the maximum. The caller frees
 * the result with json_free.
 */
struct json *result_record_merge(const struct json *const *metrics, size_t n);

#endif
