/* Reads the output of `perf script`. */
#ifndef PERFTEXT_H
#define PERFTEXT_H

#include <stdbool.h>
#include <stddef.h>

struct folding;
struct lines;

/* Returns 0, or -1 after reporting a read error or lines of another format; all
 * other lines are read. */
int perftext_read(struct lines *, struct folding *);

/* Returns true if the line is an event. */
bool perftext_is_event(const char *line, size_t n);

#endif
