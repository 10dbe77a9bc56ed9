/*
 * Sorts stacks before adding them to a call tree, so that shared frames are
 * looked up once and new ones without a search.
 */
#ifndef STACKS_H
#define STACKS_H

#include <stddef.h>
#include <stdint.h>

struct calltree;
struct stacks;

/* Borrows the tree, which is complete only after stacks_finish. */
struct stacks *stacks_new(struct calltree *, size_t column);

/* Adds a stack of n frames (calltree_frame), outermost first, of weight 'v'. */
void stacks_add(struct stacks *, const uint32_t *frames, size_t n, double v);

void stacks_finish(struct stacks *); /* frees it */

#endif
