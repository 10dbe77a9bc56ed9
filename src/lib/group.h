/* The runs of one subject and configuration, as summary.c collects them: one
 * row for each run that succeeded, one column for each metric. */
#ifndef GROUP_H
#define GROUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "merged.h"
#include "rows.h"

struct hist;
struct intern;
struct run_series;
struct run_record;

struct group_env {
	uint32_t env; /* number of a caseset; GROUP_NO_ENV */
	uint32_t n;   /* runs with it */
};

struct group_tally {
	char *text;
	size_t n;
};

struct group {
	size_t subject, config; /* numbers of a caseset */
	size_t failed, doubled;
	struct rows rows;       /* of runs that succeeded */
	struct group_env *envs; /* one may be listed twice if there are many */
	size_t nenvs, envcap;
	struct merged hists;
	bool no_hists; /* histograms are ignored, but for their tails */
	bool has_rate; /* of requests: slow ones are counted */
	char **tails;  /* slow requests of each run (tail.h); NULL: not known */
	size_t ntails, tailcap;
	struct group_tally *bound, *errors;
	size_t nbound, nerrors;
	struct run_series *series; /* NULL: the runs have no series */
};

void group_free(struct group *);

/* As summary_add. 'session' and 'env' are numbers of the caller;
 * GROUP_NO_ENV: the record has no env. 'names' are those of the metrics. */
#define GROUP_NO_ENV UINT32_MAX
int group_add(struct group *, const struct run_record *, struct intern *names,
    uint32_t session, uint32_t env, const char *where);

/* Returns NULL on error, after reporting it; text NULL is not a string. */
struct hist *group_decode(
    const char *text, size_t n, const char *name, const char *where);

#endif
