/* The commits of a branch, newest first. */
#ifndef LINEAGE_H
#define LINEAGE_H

#include <stdbool.h>
#include <stddef.h>

#include "gitrepo.h"

struct json;

struct lineage {
	struct gitrepo *repo;
	const char *branch;
	char (*ids)[GITREPO_ID];
	size_t n, cap;
	size_t *sorted; /* places by id */
};

/*
 * 'since' NULL: to the first commit; else up to it, without it and what came
 * before. 0, or -1 and said.
 */
int lineage_read(struct lineage *, struct gitrepo *, const char *branch,
    const char *since, bool first_parent);
void lineage_free(struct lineage *);

/*
 * The place of the commit whose id begins with 'sha', or is it; more than one
 * is none, as is no such: n.
 */
size_t lineage_place(const struct lineage *, const char *sha);

/* The full id of what 'name' means there. 0, or -1 and said. */
int lineage_resolve(struct gitrepo *, const char *name, char id[GITREPO_ID]);

/* Its 'commit' record; 'ref' may be NULL. NULL, and said; json_free. */
struct json *lineage_record(
    struct gitrepo *, const char *id, const char *ref, double *time);

#endif
