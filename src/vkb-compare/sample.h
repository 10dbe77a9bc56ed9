/*
 * The values of a case for a test, each with its round.
 */
#ifndef SAMPLE_H
#define SAMPLE_H

#include <stdbool.h>
#include <stddef.h>

#include "serial.h"

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

/* The values of a percentile ("99.9") of a histogram in each run. */
struct sample sample_quantile(
    const struct kase *, const char *hist, const char *percentile);
void sample_free(struct sample *);

/*
 * Reduces both samples to the values of common rounds, which are runs of one
 * session and one block, in the same order; sets *dropped to the number of
 * values left out. Returns false, and changes no sample, if there are fewer
 * than SAMPLE_PAIRS of these rounds, or less than half of the smaller sample.
 * *shared is set to the number of these rounds in any case.
 */
enum { SAMPLE_PAIRS = 3 };
bool sample_pair(struct sample s[2], size_t *shared, size_t *dropped);

/*
 * Adds the logarithms of the values, which are above 0, of each session in the
 * order of its blocks. Returns the number of sessions; 1, without adding
 * anything, if the place of a run is not known.
 */
size_t sample_add_serial(const struct sample *, struct serial *);

#endif
