/*
 * Stacks added up: a tree of frames, the outermost first, with what was seen
 * in each by column. Node 0 is the root, which has no name; a node comes after
 * its parent.
 */
#ifndef CALLTREE_H
#define CALLTREE_H

#include <stddef.h>
#include <stdint.h>

struct calltree {
	uint32_t *frame, *parent; /* of each node */
	uint32_t n;               /* nodes */
	size_t columns;
	double **self; /* by column and node: seen in this frame itself */
	/* After calltree_sum: */
	double **total;         /* by column and node: and in what it called */
	uint32_t *child, *next; /* siblings by name; 0: none */
	struct names *names;    /* of frames */
	struct calltree_index *index;
};

#define CALLTREE_NONE UINT32_MAX

struct calltree *calltree_new(size_t columns);
void calltree_free(struct calltree *);

/* The number of a frame's name, which is made visible (str_visible). */
uint32_t calltree_frame(struct calltree *, const char *name, size_t n);
const char *calltree_name(
    const struct calltree *, uint32_t node); /* borrowed */

/* The node below 'parent'; it is made where there is none. */
uint32_t calltree_child(struct calltree *, uint32_t parent, uint32_t frame);
/* The same where there is none yet. */
uint32_t calltree_append(struct calltree *, uint32_t parent, uint32_t frame);

/* No more nodes after this. */
void calltree_sum(struct calltree *);

/* Nodes from the root, which is not one of them, down to 'node'; their number.
 * 'path' grows as needed. */
size_t calltree_path(
    const struct calltree *, uint32_t node, uint32_t **path, size_t *cap);

/* The node that comes next where each stands before those it called, and is
 * left out, with all below it, where 'skip'. CALLTREE_NONE: it was the last. */
uint32_t calltree_after(const struct calltree *, uint32_t node, int skip);

/* With each stack turned round: the innermost frame first. Caller frees. */
struct calltree *calltree_reverse(const struct calltree *);

#endif
