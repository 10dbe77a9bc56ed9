/* Checks of configurations that replay a trace. */
#ifndef CONFIGREPLAY_H
#define CONFIGREPLAY_H

#include <stdbool.h>

struct configwalk;
struct json;

/* Keys that a configuration which replays a trace cannot have; NULL ends them.
 */
extern const char *const configreplay_others[];

/* Returns true if the configuration replays a trace, after reporting keys that
 * cannot be combined with that. */
bool configreplay_check(struct configwalk *, const struct json *cfg);

#endif
