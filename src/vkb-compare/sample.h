/*
 * The values of a metric in the runs of a case, each with its round.
 */
#ifndef SAMPLE_H
#define SAMPLE_H

#include <stdbool.h>
#include <stddef.h>

struct tail;

struct sample {
	double *v;
	struct round {
		const char *session;     /* NULL: not known; borrowed */
		double block;            /* NAN: not known */
		const struct tail *tail; /* NULL: not known; borrowed */
	} * rounds;
	size_t n;
};

extern const struct sample sample_none;

/* Adds those of n values that are finite; rounds NULL: not known. */
void sample_add(
    struct sample *, const double *v, const struct round *, size_t n);

/* Returns the median; NAN: there is no value. */
double sample_median(const struct sample *);

/* Compares by content, for sorting; 0: equal. 'rounds': not only the values. */
int sample_compare(const struct sample *, const struct sample *, bool rounds);

void sample_free(struct sample *);

#endif
