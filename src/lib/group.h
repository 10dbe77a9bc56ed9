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

struct course;
struct hist;
struct json;
struct runline;
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
	unsigned long long hash;
	struct json *subject, *config;
	struct str key;
	size_t failed, doubled;
	struct rows rows; /* of those that went well */
	struct group_setting *env;
	size_t nenv, envcap;
	/* The env of the last run line, as written: it was counted once. */
	struct str env_text;
	size_t env_more; /* and came so often again */
	uint64_t env_hash;
	char *host;
	struct merged hists;
	bool no_hists; /* they are passed over */
	struct group_tally *bound, *errors;
	size_t nbound, nerrors;
	struct course *course;
};

void group_free(struct group *);

/* As summary_add; 'session' is a number of the caller's. */
int group_add(struct group *, const struct json *run, uint32_t session,
    const char *where);

/* The env of a run line is that of the one before it. */
bool group_knows(const struct group *, const char *env, size_t n);

/* The env of a run line: sets env_hash and host. Then the rest of it. */
void group_env(struct group *, const char *text, size_t n);
int group_add_line(struct group *, const struct runline *, uint32_t session,
    const char *where);

/* All is counted: 'env' can be looked at. */
void group_settle(struct group *);

/* How much memory its values take; and less after this: 0, or -1 and said. */
size_t group_bytes(const struct group *);
int group_spill(struct group *, struct scratch *);

/* NULL, and said; text NULL is not a string. */
struct hist *group_decode(
    const char *text, size_t n, const char *name, const char *where);

#endif
