/* Converts the per-request counts of profiles to runs, for vkb-compare. */
#ifndef ASRUNS_H
#define ASRUNS_H

#include <stddef.h>

/*
 * Prints a 'run' record for each 'profile' record in the files that has such
 * counts. Returns 0, or -1 after reporting each line that could not be read;
 * the others are printed.
 */
int asruns_print(const char *const *files, size_t n);

#endif
