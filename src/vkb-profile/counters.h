/* Sets of counters, read by perf stat, and the ratios derived from them. */
#ifndef COUNTERS_H
#define COUNTERS_H

#include <stdbool.h>
#include <sys/types.h>

struct json;
struct perf;

/* Checks a list of sets and of events that perf knows, such as
 * "ipc,cache,uops_executed.thread". Returns 0, or -1 after reporting an error.
 */
int counters_check(const char *list);

/* Starts perf stat, not counting yet. Returns NULL after reporting an error.
 * Caller frees with perf_free. */
struct perf *counters_start(const char *list, bool user_only, pid_t);

/*
 * Parses the output of 'perf stat -x;' into an object of EVENT: count (caller
 * frees with json_free), without events that are unsupported or not counted.
 * *shared is the smallest share of the time (0 to 1) that an event was counted
 * in; below 1, perf has extrapolated counts.
 */
struct json *counters_parse(const char *text, double *shared);

/* Returns ipc, cache_miss_percent and other ratios whose counts are there.
 * Caller frees. */
struct json *counters_derive(const struct json *counters);

/* Returns each count divided by 'requests', as key NAME + 'end'. Caller
 * frees. */
struct json *counters_per_request(
    const struct json *counts, double requests, const char *end);

#endif
