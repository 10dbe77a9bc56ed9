/* Reads a profile and detects its format from the contents. */
#ifndef INPUT_H
#define INPUT_H

#include <stddef.h>

struct calltree;
struct folding_opts;

/*
 * Adds the profile in a file ("-": stdin) to the columns of the tree (see
 * folding.h). Returns 0, or -1 after reporting what could not be read.
 */
int input_read(const char *file, struct calltree *, size_t column, long samples,
    const struct folding_opts *);

#endif
