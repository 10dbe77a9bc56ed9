/*
 * One metric of the runs of one case, as the members of a JSON object: what
 * vkb-stats(1) lists. The values go out as they come, not as a tree.
 */
#ifndef DIGEST_H
#define DIGEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "str.h"

struct course;
struct json;
struct rows_run;
struct sink;
struct stats_rule;

enum digest_list {
	DIGEST_VALUES,
	DIGEST_BLOCKS,
	DIGEST_SESSIONS,
	DIGEST_LISTS
};

struct digest {
	const struct rows_run *runs;
	const uint32_t *at;  /* their order */
	const uint32_t *ids; /* the session of each by place; NULL: there is
			      * one at most */
	const uint32_t *machines; /* a number of each by place; 0: unknown */
	size_t n;
	const struct course *course;
	struct stats_rule *rule;        /* of the metric before */
	double precision;               /* wanted; 0: nobody asked */
	bool placed;                    /* each has a session, */
	bool timed;                     /* and its place in it */
	struct str lists[DIGEST_LISTS]; /* as they were last */
};

/* What it holds itself: the lists. */
void digest_free(struct digest *);

/* Sets placed and timed by the runs. */
void digest_places(struct digest *);

/* 'v' is the value of each run, in the order of 'runs'; NAN: it has none.
 * Brief: without values, blocks and sessions. */
void digest_write(struct sink *, struct digest *, const char *name,
    const double *v, bool brief);

/* The members of a tree, behind what stands in the sink. */
void digest_members(struct sink *, const struct json *);

#endif
