/*
 * What each part of a mix, or each command of a trace, got: requests,
 * latencies, misses and errors of each thread. Private to the engine, like
 * run.h. All but mixparts_init, mixparts_name, mixparts_free and
 * mixparts_collect need a worker that has parts.
 */
#ifndef MIXPARTS_H
#define MIXPARTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct conn;
struct engine_result;
struct run;
struct worker;

/* Make, and free, what a worker counts for all requests and those of parts. */
void mixparts_init(struct worker *);
void mixparts_free(struct worker *);

/* Returns the part of a trace's commands of this name, which may be new. Behind
 * the first MIXPARTS_MOST names are all "others". */
#define MIXPARTS_MOST 50
size_t mixparts_name(struct worker *, const char *name);

/* Returns the part of the nth request that a connection awaits, of 'n'. */
size_t mixparts_find(
    const struct worker *, const struct conn *, uint32_t nth, uint32_t n);

/*
 * Closed loop: n replies came, which are no longer awaited, ns after their
 * requests; all but those that were taken count if 'counted'. Likewise the
 * misses and refusals.
 */
void mixparts_record(struct worker *, const struct conn *, uint32_t n,
    bool counted, int64_t now, int64_t ns);

/* An element of a reply to the part is missing; zero: it is a 0. */
void mixparts_miss(struct worker *, size_t part, bool zero);

/* Forgets all latencies, and what was counted, before a first slice. */
void mixparts_forget(struct worker *);

/* Makes the results of the parts; 'out' has those of all. */
void mixparts_collect(struct run *, struct engine_result *out);

#endif
