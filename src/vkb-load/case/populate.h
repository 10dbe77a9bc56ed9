/* Fills the servers before a case is measured or counted. */
#ifndef POPULATE_H
#define POPULATE_H

#include "vkb-load/engine/engine.h"

struct target;

/*
 * Runs 'with', a test or a command, once for each number of the key space; does
 * nothing if it is NULL. 'like' is the stream that will be measured. Sets
 * *known to the values that a verified load wrote, or NULL; freed with
 * written_free. Returns 0, or -1 after reporting an error, or -1 silently when
 * *stop is set.
 */
int populate(const struct target *, const char *with,
    const struct engine_work *like, const volatile int *stop,
    engine_progress_fn *, void *arg, struct written **known);

#endif
