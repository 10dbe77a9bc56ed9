/*
 * The numbers of the run in progress, and their text for Prometheus (text
 * format 0.0.4). For one thread at a time.
 */
#ifndef LIVETEXT_H
#define LIVETEXT_H

#include <stddef.h>
#include <stdint.h>

struct engine_ended;
struct hist;
struct str;

#define LIVETEXT_MOST 256 /* loads of a run that are distinguished */

/* What a load has done so far, summed over its intervals. */
struct livetext_load {
	char *name, *build;
	struct hist *latency;
	uint64_t requests, errors;
	double rps; /* of the last interval */
};

struct livetext {
	char *run;         /* its name, or NULL: none was begun */
	const char *phase; /* static */
	double done;       /* share of the run */
	size_t total, ok, failed;
	struct livetext_load *loads;
	size_t n, cap;
};

void livetext_free(struct livetext *);

/* A run begins: clears the numbers of the last one. */
void livetext_begin(struct livetext *, const char *run);
void livetext_add(struct livetext *, const char *name, const char *build,
    const struct engine_ended *);

/* Appends all metrics. */
void livetext_write(const struct livetext *, struct str *);

#endif
