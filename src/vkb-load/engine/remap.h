/*
 * Assigns a thread's connections to the nodes of a map of the cluster. Private
 * to the engine, like run.h.
 */
#ifndef REMAP_H
#define REMAP_H

struct slotmap;
struct worker;

/*
 * Makes the worker use that map. Connections keep their node if it is still
 * there; others are opened.
 */
void remap_worker(struct worker *, struct slotmap *);

#endif
