/*
 * The machines that measured a history, by the environments of its runs.
 *
 * A host that measured enough commits to be judged by itself is a machine.
 * Hosts with fewer, such as the runners of CI that are new for each job, are
 * taken together if they have the same processor. A run whose environment does
 * not name its host belongs to the only machine whose known values agree with
 * it; if several machines agree, or none, such runs form a machine of their
 * own.
 */
#ifndef MACHINES_H
#define MACHINES_H

#include <stdbool.h>
#include <stddef.h>

struct json;
struct machines;

/* The name of a machine of which nothing is known. */
#define MACHINES_UNKNOWN "unknown machine"

struct machines *machines_new(void);
void machines_free(struct machines *);

/* Returns the number of a kind of environment, of which a machine may have
 * several. 'env' may be NULL. */
size_t machines_add(struct machines *, const struct json *env);

/* A run of this kind of environment measured this point. */
void machines_saw(struct machines *, size_t kind, size_t point);

/* Makes the machines, after all is read: a host with 'least' points is one. The
 * result does not depend on the order of the input. */
void machines_make(struct machines *, size_t least);

/* The number of machines; at least 1. */
size_t machines_count(const struct machines *);
/* Returns the machine of a kind. They are numbered in the order of their names.
 */
size_t machines_find(const struct machines *, size_t kind);
/* Returns the id of its host, or what its hosts have in common. Borrowed. */
const char *machines_name(const struct machines *, size_t machine);
/* Is it one host? */
bool machines_is_host(const struct machines *, size_t machine);
/* Returns its processor, or "" if the name contains that. Borrowed. */
const char *machines_processor(const struct machines *, size_t machine);
/* Returns how many points it measured. */
size_t machines_points(const struct machines *, size_t machine);

#endif
