/*
 * The runs of each case, of all subjects, in the order of time.
 */
#ifndef SERIES_H
#define SERIES_H

#include <stdbool.h>
#include <stddef.h>

#include "sample.h"

struct json;

struct series_case {
	struct json *config;
	struct series_run *runs; /* in the order of time */
	size_t n, cap;
	bool interleaved; /* some runs share a round */
};

struct series {
	struct series_case *cases;
	size_t n, cap;
	struct caseset *configs;
	struct intern *names; /* of sessions */
	struct session *sessions;
	size_t nsessions, sessions_cap;
	struct json *reference; /* hash of that of a run; NULL: it has none */
	bool mixed;             /* not all that have one have the same */
};

/*
 * Reads run records; failed runs are left out. Sessions are sorted by their
 * first start if all runs have one, else they stay in the order of the input;
 * within a session runs are sorted by order, then block. Returns NULL on error,
 * after reporting it.
 */
struct series *series_read(const char *const *files, size_t n);
void series_free(struct series *);

/* Names of the metrics of a case, sorted; caller frees the array only. */
const char **series_metrics(const struct series_case *, size_t *n);

/* The finite values, with their sessions; caller frees with sample_free. */
struct sample series_sample(
    const struct series *, const struct series_case *, const char *metric);

#endif
