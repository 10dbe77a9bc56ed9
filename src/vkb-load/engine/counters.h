/*
 * The counters of a thread, handed over to the run once a second. Private to
 * the engine, like run.h.
 */
#ifndef COUNTERS_H
#define COUNTERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct conn;
struct engine_error;
struct engine_meter;
struct engine_result;
struct part;
struct run;
struct worker;

/*
 * Adds to the row of a kind, or of a kind with that text, of a table of
 * ENGINE_ERRORS rows, *n of them used. The last row is "other": all further
 * ones.
 */
void counters_add_row(struct engine_error *, size_t *n, const char *kind,
    const char *text, uint64_t count, bool by_text);
void counters_count_error(struct worker *, const char *kind, const char *text);
void counters_add_error(struct part *, const char *line); /* an error reply */

/* Counts an error reply. Returns false if the run has failed. */
bool counters_count_error_reply(
    struct worker *, const struct conn *, const char *line);
/* Counts an error reply that is the answer to a request. */
void counters_count_refused(struct part *, const char *line);

/* Compares bytes of a reply with what was written, see conn_client.value. */
void counters_check_value(
    struct conn *, uint32_t nth, const char *p, size_t n, uint64_t left);

/* Counts misses and refusals of a read, if its requests are measured; those of
 * parts, too. */
void counters_count_answers(
    struct worker *, bool counted, uint32_t misses, int64_t now);

/* Records n measured requests and their latency in the worker's interval. */
void counters_record(struct worker *, int64_t ns, uint32_t n);
/* Counts a measured request in the worker's interval. */
void counters_count(struct worker *);
/* Records a request, which counts or not; ns, or the other, is not recorded if
 * below 0. */
void counters_record_one(
    struct part *, bool counted, int64_t ns, int64_t service_ns);

/* Ends the worker's interval. */
void counters_end_interval(struct worker *, int64_t now);
/* Ends the worker's slice, of which an ordinary run has one. */
void counters_end_slice(struct worker *);
/*
 * Computes the percentiles of intervals that all threads which run have handed
 * over, or of all: the last one of a run ends when it is collected, which is
 * when its length is known, and that of a slice with the slice. Call with the
 * lock held.
 */
void counters_close_intervals(struct run *, bool all);

/* Gives closed intervals, of the kth stream, to the meter, which may be NULL.
 */
void counters_tell_intervals(
    struct run *, const struct engine_meter *, size_t k);

/*
 * Makes the result of a run from its threads' counts. Call it after the threads
 * have ended. The result takes the histograms.
 */
void counters_collect(struct run *, struct engine_result *);

/*
 * What each part of a mix, or each command of a trace, got: requests,
 * latencies, misses and errors of each thread. All but counters_init,
 * counters_name_part and counters_free need a worker that has parts.
 */

/* Make, and free, what a worker counts for all requests and those of parts. */
void counters_init(struct worker *);
void counters_free(struct worker *);

/* Returns the part of a trace's commands of this name, which may be new. */
size_t counters_name_part(struct worker *, const char *name);

/* Returns the part of the nth request that a connection awaits, of 'n'. */
size_t counters_find_part(
    const struct worker *, const struct conn *, uint32_t nth, uint32_t n);

/*
 * Closed loop: n replies came, which are no longer awaited, ns after their
 * requests; all but those that were taken count if 'counted'. Likewise the
 * misses and refusals.
 */
void counters_record_parts(struct worker *, const struct conn *, uint32_t n,
    bool counted, int64_t now, int64_t ns);

/* An element of a reply to the part is missing; zero: it is a 0. */
void counters_miss(struct worker *, size_t part, bool zero);

/* Forgets all latencies, and what was counted, before a first slice. */
void counters_forget(struct worker *);

#endif
