/*
 * Operations on the rows of a store; the caller begins and commits the
 * transaction. They return 0; 1 after reporting a refusal; -1 after reporting
 * an error.
 */
#ifndef WORK_H
#define WORK_H

#include <stdbool.h>
#include <stddef.h>

#include "rules.h"

struct footprint;
struct lineage;
struct store;

struct commit {
	char *sha;
	double time;      /* seconds since 1970; 0: unknown */
	struct json *rec; /* its record, or NULL */
};

struct commits {
	struct commit *v;
	size_t n, cap;
};
/* Copies 'sha' and takes 'rec'. */
void work_commits_add(
    struct commits *, const char *sha, double time, struct json *rec);
void work_commits_free(struct commits *);

struct work {
	struct store *store;
	struct rules rules;
	const struct footprint *config; /* NULL: any, if the operation allows */
	const char *architecture;       /* the same */
	bool subset; /* commits complete with a covering config are complete */
	enum order order;
};

/* Finds the next commits of the history, at most 'most', and claims them with
 * 'claim'. */
int work_find_next(struct work *, const struct lineage *, size_t most,
    bool claim, struct commits *out);

/* Claims the commits for 'claimed', which gets those that were; if that is
 * NULL, marks them with the status. */
int work_change(struct work *, const struct commits *, enum rules_status,
    const char *reason, struct commits *claimed);

/* Prolongs the claims on the commits, or all claims of the owner if there are
 * none. */
int work_prolong(struct work *, const struct commits *);

/* Drops the owner's claims and those that have ended; *n: how many. */
int work_drop_claims(struct work *, size_t *n);

#endif
