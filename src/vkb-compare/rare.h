/*
 * Rare events: p99.9 is judged by how often requests were slow, if the runs say
 * it (tail.h). Slow is what took longer than p99.9 of the side where it is
 * lower: of the times of tail.h, the first that one in 1000 exceed there.
 *
 * The value of a run is the logarithm of its share of slow requests and one in
 * 1000 more, so that few of them, which vary most, do not count most: with
 * twice as many it is 1.5 times as large. Slow requests come in bursts, so the
 * runs say how much shares vary; the number of requests says how much they do
 * at least. One run with many slow requests is one run.
 */
#ifndef RARE_H
#define RARE_H

#include <stddef.h>

struct row;

/* How often something is changes more than how long it takes: a tail whose
 * share falls by 8 where the time doubles has this ratio of both. */
#define RARE_SIZES 3

struct rare {
	double above_ms; /* what is slow */
	/* Of slow requests: that of the mean of the values of the baseline, and
	 * this changed by the ratio, so that a burst in one run cannot make
	 * them say the opposite of the verdict. */
	double share[2];
	size_t time;      /* of tail.h */
	double least_var; /* of the change */
};

/* Sets how the row is judged, and if it is by slow requests, its margin. A
 * margin that was chosen is one of its values, and so is the limit of a waiver.
 */
void rare_measure(struct row *);

/* Returns the value of a run of a side, a logarithm. */
double rare_value(const struct row *, size_t side, size_t run);

/* Returns by how much of itself the value of a run varies, as a share. */
double rare_variation(const struct row *, size_t side);

/* Returns the share that the share of the baseline becomes by a ratio. */
double rare_change(const struct row *, double ratio);

#endif
