/*
 * Stacks on their way into a call tree: they are sorted first, so that what
 * they share is looked up once, and what is new needs no look at all.
 */
#ifndef STACKS_H
#define STACKS_H

#include <stddef.h>
#include <stdint.h>

struct calltree;
struct stacks;

/* The tree is borrowed, and has all of them only after stacks_end. */
struct stacks *stacks_new(struct calltree *, size_t column);

/* One of n frames (calltree_frame), the outermost first, seen 'v' times. */
void stacks_add(struct stacks *, const uint32_t *frames, size_t n, double v);

void stacks_end(struct stacks *); /* taken */

#endif
