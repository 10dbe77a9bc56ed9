/* Reads the output of valkey-benchmark. */
#ifndef VBRESULT_H
#define VBRESULT_H

#include <stdbool.h>

struct json;
struct str;

/*
 * Returns the metrics of the only result, freed by the caller: of the test
 * 'command', or if 'words' is not NULL of that command. Returns NULL after
 * adding the reason to 'why'; *quick: the run took less than a millisecond, the
 * resolution of such a program.
 */
struct json *vbresult_read(const char *out, const char *command,
    char *const *words, bool *quick, struct str *why);

#endif
