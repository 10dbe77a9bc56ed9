/*
 * Sets of counters by perf stat, and what follows from them.
 */
#ifndef COUNTERS_H
#define COUNTERS_H

#include <stdbool.h>
#include <sys/types.h>

struct json;
struct perf;

/* Are they names of sets, with commas? 0, or -1 and said. */
int counters_check(const char *sets);

/* NULL, and said. */
struct perf *counters_start(const char *sets, bool user_only, pid_t);

/*
 * What 'perf stat -x;' printed: EVENT: count in a new object (caller frees with
 * json_free). What is not supported or was not counted is absent. *shared is
 * the smallest share of the time that one was counted in, 1 where all were
 * counted throughout: the others are estimates.
 */
struct json *counters_parse(const char *text, double *shared);

/* ipc, cache_miss_percent and others that can be known; caller frees. */
struct json *counters_derive(const struct json *counters);

/* Each count over the number of requests, NAME and 'end'; caller frees. */
struct json *counters_per_request(
    const struct json *counts, double requests, const char *end);

#endif
