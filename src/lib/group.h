/*
 * The runs of one subject and configuration, as summary.c collects them: one
 * row for each run that went well, one column for each metric.
 */
#ifndef GROUP_H
#define GROUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "merged.h"
#include "rows.h"
#include "str.h"

struct caseset;
struct course;
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
	struct rows rows; /* of those that went well */
	struct group_setting *env;
	size_t nenv, envcap;
	/* The environment of the last runs, and how many of them are not
	 * counted in 'env' yet. */
	size_t env_last, env_more;
	struct merged hists;
	bool no_hists; /* they are passed over */
	struct group_tally *bound, *errors;
	size_t nbound, nerrors;
	struct course *course;
};

void group_free(struct group *);

/* The same as summary_add; 'session' and 'env' are numbers of the caller's: of
 * a place, and of a caseset (GROUP_NO_ENV: the record has none). */
#define GROUP_NO_ENV SIZE_MAX
int group_add(struct group *, const struct run_record *, uint32_t session,
    const struct caseset *envs, size_t env, const char *where);

/* All runs are counted: 'env' becomes what they said. */
void group_settle(struct group *, const struct caseset *envs);

/* How much memory its values take; and less after this: 0, or -1 and said. */
size_t group_bytes(const struct group *);
int group_spill(struct group *, struct scratch *);

/* NULL, and said; text NULL is not a string. */
struct hist *group_decode(
    const char *text, size_t n, const char *name, const char *where);

#endif
