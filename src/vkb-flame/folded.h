/* Folded stacks, a line each: "outer;inner 12". */
#ifndef FOLDED_H
#define FOLDED_H

#include <stdbool.h>
#include <stddef.h>

struct calltree;
struct lines;
struct str;

/*
 * Adds to 'column' what the lines count, and to 'samples' (-1: nowhere) how
 * many samples that is: the counts, or, where the middle one is 10000 or more,
 * so that they are periods, how many times that it is. 0, or -1 and said: it
 * cannot be read, or a line has no count (the rest is read).
 */
int folded_read(struct lines *, struct calltree *, size_t column, long samples);

/* Does the line end in a count? */
bool folded_looks(const char *line, size_t n);

/*
 * The stacks of the tree by name, each with its n counts: v[0..n-1] are by
 * node. A stack whose counts are all 0 is left out.
 */
void folded_write(
    struct str *, const struct calltree *, const double *const *v, size_t n);

#endif
