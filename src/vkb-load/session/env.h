/* The sky of a run: what of the machine's env record each run repeats. */
#ifndef ENV_H
#define ENV_H

struct json;

/* A new object, the caller's. What is not known is absent. */
struct json *env_brief(const struct json *settings);

#endif
