/* The runs of one subject and configuration, as summary.c collects them: one
 * row for each run that succeeded, one column for each metric. */
#ifndef GROUP_H
#define GROUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rows.h"

struct hist;
struct intern;
struct run_series;
struct run_record;

/* Merged histograms of many runs, one for each name and layout, so that merging
 * is exact. */
struct group_hists {
	struct group_hist {
		char *name;
		struct hist *h;
	} * v;
	size_t n;
};

void group_free_hists(struct group_hists *);

/* Merges 'h' (taken) into the histogram of its name and layout. */
void group_add_hist(struct group_hists *, const char *name, struct hist *h);

/*
 * Iterates over the names in order, from *i = 0: *h is the merged histogram of
 * *name (borrowed) in a layout that holds all its values. Returns false at the
 * end. Caller frees *h with hist_free. Do not call group_add_hist between two
 * calls.
 */
bool group_next_hist(
    struct group_hists *, size_t *i, const char **name, struct hist **h);

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
	struct group_hists hists;
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
