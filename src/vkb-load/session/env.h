/* The environment of a run: what it repeats of the env record. */
#ifndef ENV_H
#define ENV_H

struct json;

/* Returns a new object, owned by the caller, without unknown settings. */
struct json *env_brief(const struct json *settings);

#endif
