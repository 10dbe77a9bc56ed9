/* The runs of one subject and configuration, as summary.c collects them: one
 * row for each run that succeeded, one column for each metric. */
#ifndef GROUP_H
#define GROUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "merged.h"
#include "rows.h"
#include "str.h"

struct caseset;
struct run_series;
struct hist;
struct json;
struct run_record;
struct scratch;

struct group_setting {
	char *name;
	struct json *value;
	size_t n;
	bool varied;
};

struct group_tally {
	char *text;
	size_t n;
};

struct group {
	size_t subject, config; /* numbers of a caseset */
	size_t failed, doubled;
	struct rows rows; /* of runs that succeeded */
	struct group_setting *env;
	size_t nenv, envcap;
	/* The last environment, and how many of its runs 'env' lacks. */
	size_t env_last, env_more;
	struct merged hists;
	bool no_hists; /* histograms are ignored */
	struct group_tally *bound, *errors;
	size_t nbound, nerrors;
	struct run_series *course;
};

void group_free(struct group *);

/* As summary_add. 'session' is a number of the caller's places, 'env' of
 * 'envs'; GROUP_NO_ENV: the record has none. */
#define GROUP_NO_ENV SIZE_MAX
int group_add(struct group *, const struct run_record *, uint32_t session,
    const struct caseset *envs, size_t env, const char *where);

/* Completes 'env' after the last run. */
void group_settle(struct group *, const struct caseset *envs);

/* Returns the bytes of memory of its values. */
size_t group_bytes(const struct group *);
/* Moves them to the disk. Returns 0, or -1 and an error is reported. */
int group_spill(struct group *, struct scratch *);

/* Returns NULL on error, after reporting it; text NULL is no string. */
struct hist *group_decode(
    const char *text, size_t n, const char *name, const char *where);

#endif
