/* Refuses cases that valkey-benchmark cannot run, or would run differently. */
#ifndef VBREFUSE_H
#define VBREFUSE_H

#include <stdbool.h>

struct json;
struct vbcaps;

/*
 * Returns why the program cannot run the case, or NULL; caller frees. 'login':
 * the server needs a password that is not part of the case.
 */
char *vbrefuse_explain(
    const struct vbcaps *, const struct json *cas, bool login);

#endif
