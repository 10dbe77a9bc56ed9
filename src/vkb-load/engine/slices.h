/* Loading several servers interleaved, and their rates. Private to the engine.
 */
#ifndef SLICES_H
#define SLICES_H

#include <stddef.h>

struct engine_load;
struct streams;

/*
 * Loads the servers of all streams interleaved, in the order that 'rng', a
 * struct rng, chooses, as engine_run_slices says.
 */
void slices_run(struct streams *, void *rng);

/*
 * Sets the rate of each result from its slices, so that the ratio of two loads,
 * for each role by itself, is the median of the ratios of their slices, turn by
 * turn: what disturbs a few slices does not count. With x the rate of a load in
 * a turn and g the geometric mean of all loads' rates in that turn, a load
 * gets
 *
 *	median(g) * exp(median(ln(x / g)))
 *
 * A turn in which a load answered nothing is left out, unless one load has more
 * such slices than another by three standard deviations. Of a number of
 * requests the last slice, which is shorter, is left out. Where half of the
 * turns are left out, a number of requests took three slices or fewer, or the
 * rate was asked for, the rates stay as they are: requests over time.
 * Streams of one role share its rate as they shared its requests.
 */
void slices_set_rates(const struct engine_load *, size_t n);

#endif
