/*
 * Runs of each case in the order of time, whatever their subject.
 */
#ifndef SERIES_H
#define SERIES_H

#include <stdbool.h>
#include <stddef.h>

struct json;
struct series;

struct series_case {
	struct json *config;
	struct series_run *runs; /* in the order of time */
	size_t n, cap;
	bool interleaved; /* some runs share a round */
};

/*
 * Reads run records. Sessions follow each other by their first start where all
 * runs say when, else as they come; within one, runs go by order, then block.
 * Failed runs are left out. NULL, and said.
 */
struct series *series_read(const char *const *files, size_t n);
void series_free(struct series *);

size_t series_count(const struct series *);
const struct series_case *series_at(const struct series *, size_t i);

/* Names of the metrics of a case, sorted; caller frees the array alone. */
const char **series_metrics(const struct series_case *, size_t *n);

/* The finite values; caller frees. */
double *series_values(
    const struct series_case *, const char *metric, size_t *n);

#endif
