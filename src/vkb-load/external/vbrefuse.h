/* What valkey-benchmark cannot do, or would do under a wrong name. */
#ifndef VBREFUSE_H
#define VBREFUSE_H

#include <stdbool.h>

struct json;
struct vbcaps;

/*
 * Why it is not to run the case, or NULL; caller frees. 'login': the server
 * wants a password that is not part of the case.
 */
char *vbrefuse_why(const struct vbcaps *, const struct json *cas, bool login);

#endif
