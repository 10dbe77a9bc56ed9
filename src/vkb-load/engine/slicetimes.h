/*
 * The times of slices: how long they are, what of each is measured, and when
 * the work is done. Private to the engine.
 */
#ifndef SLICETIMES_H
#define SLICETIMES_H

#include <stdbool.h>
#include <stdint.h>

struct run;
struct side;
struct streams;

/* Of a slice. */
struct slicetimes {
	int64_t ns;   /* INT64_MAX: until the requests are made */
	int64_t head; /* not measured; 'ns' in the warm-up */
};

/*
 * Sets the times of the warm-up of a server, and which of its streams are idle
 * meanwhile: a number of requests without a warm-up includes the first. Returns
 * false if all are.
 */
bool slicetimes_warm_up(struct slicetimes *, struct side *);

/*
 * Returns the seconds that all slices need, by what the servers did so far, or
 * by their rates; slicetimes_set makes the times of a slice of them.
 */
double slicetimes_choose(const struct streams *);
void slicetimes_set(struct slicetimes *, double seconds);

/* Sets when a stream sends in a slice, and what of that is measured. */
void slicetimes_begin(struct run *, int64_t begin, const struct slicetimes *);

/* Adds up the time of a slice that has ended, and sets that of its interval. */
void slicetimes_end(struct run *, int64_t begin, int64_t end);

/* Is nothing left to do for a stream? */
bool slicetimes_is_over(const struct run *);

/* Returns the share of the work of all servers that is done. */
double slicetimes_get_done(const struct streams *);

#endif
