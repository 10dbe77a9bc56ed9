/*
 * Judges the errors of a run. Error replies cost a server little, so a run with
 * many of them measures something else: more than 1 % make it fail, or what
 * "max_errors_percent" of the case says. The record keeps what was measured.
 */
#ifndef ERRORCHECK_H
#define ERRORCHECK_H

#include <stdbool.h>

struct engine_result;
struct json;

/*
 * Returns true after reporting that too many requests of a result were refused,
 * or had errors before they were answered. 'part' is the command of a part, or
 * NULL. Lost connections are not among them, see max_lost.
 */
bool errorcheck_fails(
    const struct json *cas, const char *part, const struct engine_result *);

/* Does the case allow more errors than others? */
bool errorcheck_allows_more(const struct json *cas);

/* Returns what to do about most errors, to be added to a message, or "". */
const char *errorcheck_advice(const struct engine_result *);

/* Reports the kinds of all errors of a run that has not failed, if any. */
void errorcheck_report(const struct json *cas, const struct engine_result *);

#endif
