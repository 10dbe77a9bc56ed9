/*
 * Histograms of many runs, merged: one for each name and layout, which is
 * exact. They can go to a file, piece by piece, and are read back in the end.
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

/* 'h' is taken. */
void merged_add(struct merged *, const char *name, struct hist *h);

/* How much memory the counts take; and none after this: 0, or -1 and said. */
size_t merged_bytes(const struct merged *);
int merged_spill(struct merged *, struct scratch *);

/*
 * Names in order, from *i = 0: *h is all of one in the layout that holds all,
 * freed with hist_free, and *name borrowed. 0 when there are no more, -1 and
 * said. None is added on the way.
 */
int merged_next(struct merged *, struct scratch *, size_t *i, const char **name,
    struct hist **h);

#endif
