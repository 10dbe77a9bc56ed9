/* perf.data as samples, with the same result as the text of `perf script`. */
#ifndef PERFDATA_H
#define PERFDATA_H

#include <stdbool.h>

struct folding;

/* fd is borrowed. 'linked': addresses are those that addr2line knows. 0, or -1
 * and said: it cannot be read, or not all of it. */
int perfdata_read(int fd, const char *name, struct folding *, bool linked);

#endif
