/* A profile of any of the kinds that are read, by what is in the file. */
#ifndef INPUT_H
#define INPUT_H

#include <stddef.h>

struct calltree;
struct folding_opts;

/*
 * Adds the profile in a file ("-": stdin) to the columns of the tree (see
 * folding.h). 0, or -1 and said: what could be read is there.
 */
int input_read(const char *file, struct calltree *, size_t column, long samples,
    const struct folding_opts *);

#endif
