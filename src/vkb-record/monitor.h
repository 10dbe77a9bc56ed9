/* What MONITOR prints: from a file, or from a server while it works. */
#ifndef MONITOR_H
#define MONITOR_H

#include <stdio.h>

struct client;
struct recorder;

/* Record all lines. Return 0, or -1 after reporting an error; what came before
 * is recorded. */
int monitor_read(struct recorder *, FILE *in, const char *name);

/* Until 'seconds' are over (0: without end), or *stop is set. */
int monitor_live(struct recorder *, struct client *, double seconds,
    const volatile int *stop);

#endif
