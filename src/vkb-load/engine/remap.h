/*
 * Which connections a thread has to which nodes, by a map of the cluster.
 * Private to the engine, like run.h.
 */
#ifndef REMAP_H
#define REMAP_H

struct slotmap;
struct worker;

/*
 * The worker goes on with that map. Connections keep their node where it is
 * still there, others are opened.
 */
void remap_worker(struct worker *, struct slotmap *);

#endif
