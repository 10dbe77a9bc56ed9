/*
 * Merged histograms of many runs, one for each name and layout, so that merging
 * is exact. They can be moved to a scratch file and are read back at the end.
 */
#ifndef MERGED_H
#define MERGED_H

#include <stddef.h>

struct hist;
struct merged_one;
struct scratch;

struct merged {
	struct merged_one *v;
	size_t n;
};

void merged_free(struct merged *);

/* Merges 'h' (taken) into the histogram of its name and layout. */
void merged_add(struct merged *, const char *name, struct hist *h);

/* Returns the bytes of memory that the counts take. */
size_t merged_bytes(const struct merged *);
/* Moves all counts to the file. Returns 0, or -1 after reporting the error. */
int merged_spill(struct merged *, struct scratch *);

/*
 * Iterates over the names in order, from *i = 0: *h is the merged histogram of
 * *name (borrowed) in a layout that holds all its values. Returns 1, 0 at the
 * end, or -1 after reporting the error. Caller frees *h with hist_free. Do not
 * call merged_add between two calls.
 */
int merged_next(struct merged *, struct scratch *, size_t *i, const char **name,
    struct hist **h);

#endif
