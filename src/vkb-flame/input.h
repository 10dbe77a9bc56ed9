/* Reads a profile and detects its format from the contents. */
#ifndef INPUT_H
#define INPUT_H

#include <stddef.h>

struct calltree;
struct callgraphs;
struct folding_opts;

/* Where a profile goes: samples to columns of a tree (see folding.h), counts of
 * callgrind to a list. */
struct input_target {
	struct calltree *tree;
	size_t column;
	long samples;
	struct callgraphs *counts;
	char **event; /* that of the samples; NULL: not known yet. Caller frees
		       * it. */
};

/*
 * Adds the profile in a file ("-": stdin). Returns 0, or -1 after reporting
 * what could not be read.
 */
int input_read(
    const char *file, const struct input_target *, const struct folding_opts *);

#endif
