/*
 * Adaptive runs: when a session looks at what it has, and what it wants to see
 * before a case is finished.
 */
#ifndef LOOKS_H
#define LOOKS_H

#include <stdbool.h>
#include <stddef.h>

#include "sequential.h"

struct json;
struct opt_list;

struct looks_until {
	char *metric; /* NULL: the usual one of the case */
	double width; /* relative half width of the interval, above 0 */
};

struct looks {
	size_t n; /* 1 where the number of runs is fixed: that is its end */
	double at[SEQUENTIAL_LOOKS];    /* runs; the last is the most */
	double level[SEQUENTIAL_LOOKS]; /* of the intervals */
	struct looks_until *until;
	size_t nuntil; /* 0: the number of runs is fixed */
};

/*
 * From "N", or "MIN..MAX" and any number of "[METRIC=]N%". 0, or -1 and said;
 * looks_free in either case.
 */
int looks_parse(struct looks *, const char *runs, const struct opt_list *until);
void looks_free(struct looks *);

bool looks_adaptive(const struct looks *);
size_t looks_most(const struct looks *);

/* The metric of a condition for a case: with a fixed rate rps is no answer. */
const char *looks_metric(const struct looks_until *, const struct json *config);

/* Adds looks and until to the run object of a record of this case. */
void looks_record(
    const struct looks *, const struct json *config, struct json *run);

/* Equal for run objects that have the same of both; 0: neither. */
unsigned long long looks_hash(const struct json *run);

/* "looks after 5, 7 and 10 runs, until rps +-1 %"; caller frees. */
char *looks_text(const struct looks *);

#endif
