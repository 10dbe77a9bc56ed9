/*
 * The stopping rule of adaptive runs: after how many runs a session looks at
 * the precision of a case, and which precision ends it.
 */
#ifndef STOPPING_H
#define STOPPING_H

#include <stdbool.h>
#include <stddef.h>

#include "sequential.h"

struct json;
struct opt_list;

struct stopping_until {
	char *metric; /* NULL: see stopping_metric */
	double width; /* relative half width of the interval, above 0 */
};

struct stopping_rule {
	size_t n;                       /* 1 if the number of runs is fixed */
	double at[SEQUENTIAL_LOOKS];    /* runs at each look */
	double level[SEQUENTIAL_LOOKS]; /* of the interval, 1 - its coverage */
	struct stopping_until *until;
	size_t nuntil;  /* 0: the number of runs is fixed */
	bool automatic; /* at[0] is still to be set, see advice_choose_runs */
};

/*
 * Parses "auto" or "N", or "MIN..MAX" and any number of "[METRIC=]N%". 0, or
 * -1, error reported; call stopping_free in either case.
 */
int stopping_parse(
    struct stopping_rule *, const char *runs, const struct opt_list *until);
void stopping_free(struct stopping_rule *);

bool stopping_is_adaptive(const struct stopping_rule *);
size_t stopping_max_runs(const struct stopping_rule *);

/* Returns the metric of a condition: by default rps, with a fixed rate p50. */
const char *stopping_metric(
    const struct stopping_until *, const struct json *config);

/* Adds looks and until to the run object of a record of this case. */
void stopping_record(
    const struct stopping_rule *, const struct json *config, struct json *run);

/* Returns a hash of both in a run object; 0 if it has neither. */
unsigned long long stopping_hash(const struct json *run);

/* "looks after 5, 7 and 10 runs, until rps +-1 %"; caller frees. */
char *stopping_format(const struct stopping_rule *);

#endif
