/* What 'populate_with' puts into the servers before a case is measured. */
#ifndef POPULATE_H
#define POPULATE_H

#include "vkb-load/engine/engine.h"

struct json;
struct target;

/*
 * A test, or a command for each number of the key space, once. 'like' is what
 * will be measured. 0, or -1 and said, or unsaid where *stop ended it.
 */
int populate(const struct target *, const struct json *cas,
    const struct engine_work *like, const volatile int *stop,
    engine_progress_fn *, void *arg);

#endif
