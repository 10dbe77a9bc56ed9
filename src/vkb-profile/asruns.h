/* What profiles counted for each request, for tools that compare runs. */
#ifndef ASRUNS_H
#define ASRUNS_H

#include <stddef.h>

/*
 * Prints a run for each 'profile' record in the files that has such counts. 0,
 * or -1 and said: something could not be read, the rest was printed.
 */
int asruns_print(const char *const *files, size_t n);

#endif
