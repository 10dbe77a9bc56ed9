/*
 * Where runs were made: the sessions they name, and the machine of each.
 */
#ifndef PLACES_H
#define PLACES_H

#include <stddef.h>
#include <stdint.h>

struct places;

#define PLACES_UNKNOWN UINT32_MAX /* a run that names no session */

struct places *places_new(void);
void places_free(struct places *);

/* The number of the session, NULL: none, that ran on 'host', NULL: unknown. */
uint32_t places_add(struct places *, const char *session, const char *host);

const char *places_session(const struct places *, uint32_t id); /* borrowed */

/* Of each session, by number, its place among the names. Caller frees with
 * free(). */
uint32_t *places_order(const struct places *);

/*
 * A number of the session's machine (env.host), one for all of which that is
 * not known or not one. Larger where the name sorts behind: it does not depend
 * on the order of the runs.
 */
size_t places_machine(struct places *, uint32_t id);

#endif
