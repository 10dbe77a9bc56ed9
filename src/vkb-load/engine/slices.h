/* Loading several servers interleaved. Private to the engine. */
#ifndef SLICES_H
#define SLICES_H

struct streams;

/*
 * Loads the servers of all streams interleaved, in the order that 'rng', a
 * struct rng, chooses, as engine_run_slices says.
 */
void slices_run(struct streams *, void *rng);

#endif
