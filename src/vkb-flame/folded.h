/* Folded stacks, one on each line: "outer;inner 12". */
#ifndef FOLDED_H
#define FOLDED_H

#include <stdbool.h>
#include <stddef.h>

struct calltree;
struct lines;
struct str;

#define FOLDED_FIELDS                                                   \
	"of 'perf script' the fields comm, pid, event, ip and sym are " \
	"needed, "                                                      \
	"as it prints them without -F"

/*
 * Adds the counts of all lines to 'column', and estimated numbers of samples to
 * 'samples' (-1: not wanted): counts with a median of 10000 or more are periods
 * and are divided by it. Returns 0, or -1 after reporting a read error or lines
 * without a count; the other lines are read.
 */
int folded_read(struct lines *, struct calltree *, size_t column, long samples);

/* Returns true if the line ends in a count. */
bool folded_is_stack(const char *line, size_t n);

/*
 * Writes the stacks in order of name, each with n counts; v[0..n-1] are by
 * node. Omits stacks whose counts are all 0.
 */
void folded_write(
    struct str *, const struct calltree *, const double *const *v, size_t n);

#endif
