/* Writes one metric of the runs of one case as members of a JSON object, which
 * vkb-stats(1) lists. Values are written one by one, not as a tree. */
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
	const uint32_t *at;       /* indexes of runs, in order */
	const uint32_t *ids;      /* session of each run; NULL: at most one */
	const uint32_t *machines; /* machine number of each run; 0: unknown */
	size_t n;
	const struct course *course;
	struct stats_rule *rule; /* cache; filled by the metric before */
	double precision;        /* wanted; 0: none */
	bool placed;             /* every run has a session */
	bool timed;              /* every run has a place in its session */
	struct str lists[DIGEST_LISTS]; /* cache */
};

/* Frees the cached lists; the digest owns nothing else. */
void digest_free(struct digest *);

/* Sets 'placed' and 'timed'. */
void digest_places(struct digest *);

/* Writes a metric. 'v' has the value of each run in the order of 'runs', or
 * NAN. 'brief' leaves out values, blocks and sessions. */
void digest_write(struct sink *, struct digest *, const char *name,
    const double *v, bool brief);

/* Appends the members of an object to the sink. */
void digest_members(struct sink *, const struct json *);

#endif
