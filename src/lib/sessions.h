/*
 * The sessions that runs name, and the machine of each session; and how much
 * sessions of one build are assumed to differ.
 */
#ifndef SESSIONS_H
#define SESSIONS_H

#include <stddef.h>
#include <stdint.h>

struct sessions;

/* The standard deviation of ln(value) between sessions that is assumed, with
 * SESSIONS_DF degrees of freedom, where it was not measured. */
#define SESSIONS_SD .01
#define SESSIONS_SD_VIRTUAL .03
#define SESSIONS_SD_MEMORY \
	.002 /* of metrics that grow with the number of keys */

#define SESSIONS_SD_RATIO \
	.015 /* of ratios to a reference server, measured in the same block */

enum { SESSIONS_DF = 3 };

#define SESSIONS_UNKNOWN UINT32_MAX /* a run that names no session */

struct sessions *sessions_new(void);
void sessions_free(struct sessions *);

/* Returns the number of the session, a name of n bytes, or SESSIONS_UNKNOWN if
 * it is NULL. 'host' is its machine; NULL: unknown. */
uint32_t sessions_add(
    struct sessions *, const char *session, size_t n, const char *host);

const char *sessions_session(
    const struct sessions *, uint32_t id); /* borrowed */

/* For each session, the rank of its name. Caller frees with free(). */
uint32_t *sessions_order(const struct sessions *);

/*
 * Returns the rank of the session's machine (env.host) among the machine names,
 * which does not depend on the order of the runs. Sessions with an unknown
 * machine or several machines share one number.
 */
size_t sessions_machine(struct sessions *, uint32_t id);

#endif
