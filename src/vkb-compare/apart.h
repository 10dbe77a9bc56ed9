/*
 * Sides that share no session.
 *
 * A session has an effect of its own (placement, neighbours, frequency, memory
 * layout) that no number of runs reduces: Kalibera and Jones, "Rigorous
 * Benchmarking in Reasonable Time", ISMM 2013. Most of it is common to all
 * cases. With five cases and more, what they have in common is a row of its
 * own, and each case is judged by its rest, its change less the common one.
 *
 * Five and more sessions of the baseline say how much sessions differ. With
 * fewer, the policy says it (vkb-compare --calibrate measures it), or builds of
 * the history with several sessions do (between.h). Else the standard deviation
 * of a session is assumed to be 3 % on a virtual machine and 1 % on another,
 * with SESSIONS_DF degrees of freedom.
 */
#ifndef APART_H
#define APART_H

#include <stdbool.h>
#include <stddef.h>

enum { APART_SESSIONS = 5, APART_CASES = 5 };

struct comparison;
struct rules;

/*
 * Returns true if a row has sides that share no session; false if the session
 * of a run is not known. Sets 'sessions' of these rows, and of the comparison
 * to the largest. Rows that are assumed to have no noise are ignored, since
 * counted runs may be of other sessions.
 */
bool apart_find(struct comparison *);

/*
 * Widens the rows of one metric, of which first is the first and next[i] the
 * one that follows row i, by the effect of sessions, and tests their rests.
 * Adds a row to 'commons' if the metric is judged in a case. Sets 'session_sd'
 * and 'session_from' unless the sessions are measured.
 */
void apart_widen(struct comparison *, const struct rules *, size_t first,
    const size_t *next);

#endif
