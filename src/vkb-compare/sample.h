/*
 * The values of a case for a test, each with its round.
 */
#ifndef SAMPLE_H
#define SAMPLE_H

#include <stddef.h>

struct kase;

struct sample {
	double *v;
	struct round {
		const char *session; /* NULL: not known */
		double block;        /* NAN: not known */
	} * rounds;
	size_t n;
};

struct sample sample_metric(const struct kase *, const char *metric);

/* Returns the median of these values; NAN: there is none. */
double sample_median(const struct kase *, const char *metric);

/* The values of a percentile ("99.9") of a histogram in each run. */
struct sample sample_quantile(
    const struct kase *, const char *hist, const char *percentile);
void sample_free(struct sample *);

#endif
