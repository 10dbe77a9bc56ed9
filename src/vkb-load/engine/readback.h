/*
 * Reads the written values after a verified load, to find writes that were
 * answered and then lost.
 */
#ifndef READBACK_H
#define READBACK_H

#include "engine.h"

#include <stdbool.h>
#include <stddef.h>

/*
 * Reads the values that each of n streams has written and kept (written.h), and
 * adds what was found to its result. A value that is not there is an error if
 * readback_keeps said before the load that it stays. Returns 0, or -1 after
 * reporting that a server cannot be read; or silently when *stop is set.
 */
int readback_run(const struct engine_target *, const struct engine_work *works,
    size_t n, const volatile int *stop, engine_progress_fn *progress, void *arg,
    struct engine_result *results);

/*
 * Does what works write to the servers stay there? None of them deletes keys or
 * lets them expire, and no server may evict keys. False if one cannot be asked.
 */
bool readback_keeps(
    const struct engine_target *, const struct engine_work *works, size_t n);

#endif
