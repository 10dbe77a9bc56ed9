/*
 * The slow requests of a run: how many took longer than each of fixed times,
 * 2^(i/8) ns, so that neighbours are 9 % apart. They are known from the first
 * time on that at most half of the requests exceed.
 */
#ifndef TAIL_H
#define TAIL_H

#include <stddef.h>

struct hist;
struct str;

enum { TAIL_TIMES = 289 }; /* up to 2^36 ns, 69 s */

struct tail {
	double requests;
	size_t first;        /* of the times */
	const double *above; /* n counts, from the first time on; then 0 */
	size_t n;
};

/* Writes a JSON array: requests, first, above. */
void tail_write(struct str *, const struct hist *);

/* Makes one of the n numbers of such an array, which it borrows. Returns -1 if
 * they cannot be one. */
int tail_read(struct tail *, const double *v, size_t n);

/* A time in ns. */
double tail_time(size_t);

/* Returns the share of the requests that took longer than a time; one half for
 * those below the first. */
double tail_share(const struct tail *, size_t time);

#endif
