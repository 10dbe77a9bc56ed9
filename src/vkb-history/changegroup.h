/*
 * The changes of a history in groups: what vkb-detect found to be one change of
 * several series.
 */
#ifndef CHANGEGROUP_H
#define CHANGEGROUP_H

#include <stdbool.h>
#include <stddef.h>

struct json;
struct str;
struct trends;

/* What became of a change; in the order in which they are shown. */
enum changegroup_state {
	CHANGEGROUP_OPEN, /* a regression that counts */
	CHANGEGROUP_BACK, /* one that was reverted */
	CHANGEGROUP_WAIVED,
	CHANGEGROUP_INFO, /* worse, in a metric that does not count */
	CHANGEGROUP_BETTER,
	CHANGEGROUP_OTHER, /* neither better nor worse */
	CHANGEGROUP_SPIKE
};

struct changegroup_one {
	const struct json *rec; /* borrowed */
	size_t kase;            /* of the trends, or their ncases */
	size_t at;              /* its commit, or the trends' n */
	size_t end;             /* the last commit of a slow change or a spike,
				 * else 'at' */
	double size;            /* |log ratio|; INFINITY from or to 0 */
	bool primary;           /* the metric by which its case is judged */
};

struct changegroup {
	struct changegroup_one
	    *v; /* primary metrics, then the largest, first */
	size_t n, cap;
	const char *key; /* borrowed; stays the same when commits are added */
	bool slow;
	enum changegroup_state state;
	size_t at;   /* the commit of most of them, or the trends' n */
	size_t back; /* CHANGEGROUP_BACK: the commit that reverted it, or n */
};

struct changegroups {
	struct changegroup *v; /* by state, the newest first */
	size_t n, cap;
};

/* Groups the n change records, which are borrowed. Free with changegroup_free.
 */
void changegroup_make(struct changegroups *, const struct trends *,
    struct json *const *records, size_t n);
void changegroup_free(struct changegroups *);

/* Returns the class of its badge: "regression" if it is open, "improvement",
 * "spike", or "same" for all others. */
const char *changegroup_class(const struct changegroup *);

/* Writes "slow regression", "regression, reverted", "improvement", "spike". */
void changegroup_kind(struct str *, const struct changegroup *);

/* Writes "-7.2%" or "up from 0". */
void changegroup_percent(struct str *, const struct json *change);

/* Returns the number of different cases. */
size_t changegroup_cases(const struct changegroup *);

#endif
