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
		double block;
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
 * values left out. Returns false, and changes nothing, if these rounds are too
 * few for a test at 'level', or less than half of the smaller sample.
 */
bool sample_pair(struct sample s[2], double level, size_t *dropped);

/* Measures the autocorrelation of each side, with its runs sorted by session
 * and block. serial_independent unless these are known of all runs. */
struct serial sample_measure_serial(const struct sample s[2]);

#endif
