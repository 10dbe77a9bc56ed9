/*
 * The sessions that runs name, and the machine of each session; and how much
 * sessions of one build are assumed to differ.
 */
#ifndef SESSIONS_H
#define SESSIONS_H

#include <stddef.h>
#include <stdint.h>

#include "judge/model.h"

struct json;
struct metric;
struct sessions;

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

/* What is known of the machines: all are bare, or one is virtual, or neither.
 */
enum sessions_host { SESSIONS_BARE, SESSIONS_ANY, SESSIONS_VIRTUAL };

/* Returns what is known with one more environment; begin with SESSIONS_BARE. */
enum sessions_host sessions_see(enum sessions_host, const struct json *env);

/* Returns what a session is assumed to do to one case, where sessions differ by
 * 'sd' in this metric: not more than 1 %, but of rare events as much. */
double sessions_case_sd(const struct metric *, double sd);

/* Returns how much sessions are assumed to differ in this metric, where it was
 * not measured; NULL: in a time or a rate. Sets 'of', unless NULL, to the name
 * of the assumption: "virtual machine". */
struct model_prior sessions_assume(
    const struct metric *, enum sessions_host, const char **of);

#endif
