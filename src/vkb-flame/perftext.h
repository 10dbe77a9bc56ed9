/* What `perf script` prints, as samples. */
#ifndef PERFTEXT_H
#define PERFTEXT_H

#include <stdbool.h>
#include <stddef.h>

struct folding;
struct lines;

/* 0, or -1 and said: it cannot be read, or there is a line of something else
 * (the rest is read). */
int perftext_read(struct lines *, struct folding *);

/* Does the text begin as it does: with an event, or a comment of perf's? */
bool perftext_looks(const char *line, size_t n);

#endif
