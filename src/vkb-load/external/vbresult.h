/* Reads the output of valkey-benchmark. */
#ifndef VBRESULT_H
#define VBRESULT_H

#include <stdbool.h>

struct engine_result;
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

/*
 * Puts rate and response times into the result, NAN where they are not
 * reported. How long the run took follows from its rate and the result's
 * number of requests; NAN if that is 0.
 */
void vbresult_figures(const struct json *metrics, struct engine_result *);

#endif
