/*
 * Checks that an index finds something: a module may accept FT.CREATE and index
 * nothing, and a search without hits is fast.
 */
#ifndef PROBE_H
#define PROBE_H

#include <stdbool.h>

struct roles;
struct target;

/*
 * Waits until the indexes that the roles search are complete (by FT.INFO, where
 * available), then searches each for a document. A mixed case, or a text with
 * other commands too, may start with no documents; its indexes are checked
 * 'after' the run. Returns 0, or -1 after reporting an error that names the
 * index, or -1 silently when *stop is set.
 */
int probe(const struct target *, const struct roles *, bool after,
    const volatile int *stop);

#endif
