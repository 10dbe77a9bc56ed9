/* The sky of a run: this machine as far as it can be read. */
#ifndef ENV_H
#define ENV_H

struct json;

/* A new object, the caller's. What cannot be read is absent. */
struct json *env_read(void);

#endif
