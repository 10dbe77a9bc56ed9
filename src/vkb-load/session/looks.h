/*
 * The stopping rule of adaptive runs: after how many runs a session looks at
 * the precision of a case, and which precision ends it.
 */
#ifndef LOOKS_H
#define LOOKS_H

#include <stdbool.h>
#include <stddef.h>

#include "sequential.h"

struct json;
struct opt_list;

struct looks_until {
	char *metric; /* NULL: see looks_metric */
	double width; /* relative half width of the interval, above 0 */
};

struct looks {
	size_t n;                       /* 1 if the number of runs is fixed */
	double at[SEQUENTIAL_LOOKS];    /* runs at each look */
	double level[SEQUENTIAL_LOOKS]; /* of the interval, 1 - its coverage */
	struct looks_until *until;
	size_t nuntil; /* 0: the number of runs is fixed */
};

/*
 * Parses "N", or "MIN..MAX" and any number of "[METRIC=]N%". 0, or -1, error
 * reported; call looks_free in either case.
 */
int looks_parse(struct looks *, const char *runs, const struct opt_list *until);
void looks_free(struct looks *);

bool looks_adaptive(const struct looks *);
size_t looks_most(const struct looks *);

/* Returns the metric of a condition: by default rps, with a fixed rate p50. */
const char *looks_metric(const struct looks_until *, const struct json *config);

/* Adds looks and until to the run object of a record of this case. */
void looks_record(
    const struct looks *, const struct json *config, struct json *run);

/* Returns a hash of both in a run object; 0 if it has neither. */
unsigned long long looks_hash(const struct json *run);

/* "looks after 5, 7 and 10 runs, until rps +-1 %"; caller frees. */
char *looks_text(const struct looks *);

#endif
