/*
 * In which sessions points were measured, and on what kind of machine.
 */
#ifndef MEASURED_H
#define MEASURED_H

#include <stdbool.h>
#include <stddef.h>

struct measured;

struct measured *measured_new(void);
void measured_free(struct measured *);

/* A point has runs of this session, a name of n bytes; NULL: it has no name. */
void measured_add(
    struct measured *, size_t point, const char *session, size_t n);

/* Is it known of both points that they have no session in common? */
bool measured_are_apart(const struct measured *, size_t a, size_t b);

#endif
