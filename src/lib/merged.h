/* Merged histograms of many runs, one for each name and layout, so that merging
 * is exact. */
#ifndef MERGED_H
#define MERGED_H

#include <stdbool.h>
#include <stddef.h>

struct hist;

struct merged {
	struct merged_one {
		char *name;
		struct hist *h;
	} * v;
	size_t n;
};

void merged_free(struct merged *);

/* Merges 'h' (taken) into the histogram of its name and layout. */
void merged_add(struct merged *, const char *name, struct hist *h);

/*
 * Iterates over the names in order, from *i = 0: *h is the merged histogram of
 * *name (borrowed) in a layout that holds all its values. Returns false at the
 * end. Caller frees *h with hist_free. Do not call merged_add between two
 * calls.
 */
bool merged_next(
    struct merged *, size_t *i, const char **name, struct hist **h);

#endif
