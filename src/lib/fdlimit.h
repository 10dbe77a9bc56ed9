/* The limit of open files (RLIMIT_NOFILE). */
#ifndef FDLIMIT_H
#define FDLIMIT_H

#include <stdint.h>

/*
 * Raises the limit so that n more files can be opened. Returns 0, or -1 after
 * reporting the figures; 'what' are those files: "idle connections".
 */
int fdlimit_raise(uint64_t n, const char *what);

#endif
