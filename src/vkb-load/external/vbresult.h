/* What valkey-benchmark printed of a run. */
#ifndef VBRESULT_H
#define VBRESULT_H

#include <stdbool.h>

struct json;
struct str;

/*
 * The metrics of the one result that is there: of the test 'command', or where
 * 'words' is not NULL of the command that they are. The caller's. NULL: 'why'
 * has been added to; *quick: it took less than the millisecond that such a
 * program tells.
 */
struct json *vbresult_read(const char *out, const char *command,
    char *const *words, bool *quick, struct str *why);

#endif
