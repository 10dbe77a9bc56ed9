/* Reads perf.data; the result is the same as from the text of `perf script`. */
#ifndef PERFDATA_H
#define PERFDATA_H

#include <stdbool.h>

struct folding;

/* Borrows fd. 'linked': addresses are those of the link. Returns 0, or -1 after
 * reporting that the file could not be read, or only in part. */
int perfdata_read(int fd, const char *name, struct folding *, bool linked);

#endif
