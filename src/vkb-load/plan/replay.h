/* Cases that replay a trace instead of sending commands of their own. */
#ifndef REPLAY_H
#define REPLAY_H

#include <stdbool.h>

struct json;
struct plan_want;

#define REPLAY_COMMAND "REPLAY" /* config.command of such a case */

/* Returns NULL, or why the text is not a speed; static. A speed is a number
 * above 0, or "closed"; *speed is then 0. */
const char *replay_parse_speed(const char *text, double *speed);

/* Returns why the options exclude each other, or NULL; static. 'replay' is
 * that of --replay, 'order' that of --order, or NULL. */
const char *replay_find_conflict(const char *replay, const struct plan_want *,
    bool count, bool no_flush, const char *order);

/*
 * Makes a case replay a trace, if its configuration says so: sets what
 * identifies it in 'config', and client.replay, the path. Returns NULL, or why
 * the trace cannot be replayed; caller frees.
 */
char *replay_make_case(const struct json *cfg, struct json *cas);

/* Returns why the trace of a case that was read is not there any more, or NULL;
 * caller frees. */
char *replay_check(const struct json *cas);

#endif
