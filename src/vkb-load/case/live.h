/*
 * Metrics of the run in progress for Prometheus (--live), over HTTP, read-only.
 * A separate thread answers, with the lowest priority, and does not use the
 * threads of the load. All other functions are for the calling thread.
 */
#ifndef LIVE_H
#define LIVE_H

#include <stdbool.h>
#include <stddef.h>

struct engine_ended;
struct engine_progress;
struct live;

/*
 * Listens on "[ADDRESS:]PORT"; the address is 127.0.0.1 if there is none, and
 * port 0 any free one. Says where, unless 'quiet'. Returns NULL after reporting
 * an error.
 */
struct live *live_open(const char *where, bool quiet);
void live_close(struct live *); /* NULL does nothing, here and below */

/* A run begins, one of "total" or fewer. */
void live_begin(struct live *, const char *name, size_t total);
void live_progress(struct live *, const struct engine_progress *);

/* An interval of a case, or of a role of it, has ended. */
void live_add(struct live *, const char *name, const char *build,
    const struct engine_ended *);

/* The run was recorded. */
void live_end(struct live *, bool failed);

#endif
