/*
 * A tree of call stacks, the outermost frame first, with weights by column.
 * Node 0 is the root, without a name; each node comes after its parent.
 */
#ifndef CALLTREE_H
#define CALLTREE_H

#include <stddef.h>
#include <stdint.h>

struct calltree {
	uint32_t *frame, *parent; /* of each node */
	uint32_t n;               /* number of nodes */
	size_t columns;
	double **self; /* [column][node]: weight of the node itself */
	/* Set by calltree_sum: */
	double **total;         /* [column][node]: and all below it */
	uint32_t *child, *next; /* by name, or 0 */
	struct intern *names;   /* of frames */
	/* Private: */
	size_t cap;      /* of the arrays by node */
	uint64_t *slots; /* node << 32 | half of its hash; 0: empty */
	size_t nslots;
};

#define CALLTREE_NONE UINT32_MAX

struct calltree *calltree_new(size_t columns);
void calltree_free(struct calltree *);

/* Returns the number of a frame name, escaped by str_visible. */
uint32_t calltree_frame(struct calltree *, const char *name, size_t n);
const char *calltree_name(
    const struct calltree *, uint32_t node); /* borrowed */

/* Returns the child of 'parent' with this frame; creates it if needed. */
uint32_t calltree_child(struct calltree *, uint32_t parent, uint32_t frame);

/* Computes totals and links siblings. No nodes may be added after this. */
void calltree_sum(struct calltree *);

/* Writes the nodes from below the root to 'node' into 'path', which grows as
 * needed. Returns their number. */
size_t calltree_path(
    const struct calltree *, uint32_t node, uint32_t **path, size_t *cap);

/* Returns the next node in depth-first order; 'skip' omits the nodes below
 * 'node'. Returns CALLTREE_NONE after the last. */
uint32_t calltree_next(const struct calltree *, uint32_t node, int skip);

/* Returns a tree of reversed stacks, innermost frame first; the caller
 * frees. */
struct calltree *calltree_reverse(const struct calltree *);

#endif
