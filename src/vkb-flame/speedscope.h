/* The JSON of speedscope (www.speedscope.app/file-format-schema.json). */
#ifndef SPEEDSCOPE_H
#define SPEEDSCOPE_H

#include <stddef.h>

struct calltree;
struct str;

/* Writes one profile, or two, before and after; v[0..n-1] are by node. */
void speedscope_write(struct str *, const struct calltree *,
    const double *const *v, size_t n, const char *title);

#endif
