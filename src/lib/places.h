/*
 * The sessions that runs name, and the machine of each session.
 */
#ifndef PLACES_H
#define PLACES_H

#include <stddef.h>
#include <stdint.h>

struct places;

#define PLACES_UNKNOWN UINT32_MAX /* a run that names no session */

struct places *places_new(void);
void places_free(struct places *);

/* Returns the number of the session, or PLACES_UNKNOWN if 'session' is NULL.
 * 'host' is its machine; NULL: unknown. */
uint32_t places_add(struct places *, const char *session, const char *host);

const char *places_session(const struct places *, uint32_t id); /* borrowed */

/* For each session, the rank of its name. Caller frees with free(). */
uint32_t *places_order(const struct places *);

/*
 * Returns the rank of the session's machine (env.host) among the machine names,
 * which does not depend on the order of the runs. Sessions with an unknown
 * machine or several machines share one number.
 */
size_t places_machine(struct places *, uint32_t id);

#endif
