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
	size_t *sorted; /* indexes of 'ids', ordered by id */
};

/*
 * Reads the history of the branch, without the history of 'since' unless that
 * is NULL. Borrows 'repo' and 'branch'. Returns 0, or -1 after reporting an
 * error.
 */
int lineage_read(struct lineage *, struct gitrepo *, const char *branch,
    const char *since, bool first_parent);
void lineage_free(struct lineage *);

/* Returns the index of the only commit whose id begins with 'sha', or n. */
size_t lineage_find_index(const struct lineage *, const char *sha);

/* Finds the full id of a branch, tag or commit. Returns 0, or -1 after
 * reporting an error. */
int lineage_find_id(struct gitrepo *, const char *name, char id[GITREPO_ID]);

/* Returns the 'commit' record (caller frees with json_free), or NULL after
 * reporting an error; 'ref' can be NULL. *time: seconds since 1970. */
struct json *lineage_make_record(
    struct gitrepo *, const char *id, const char *ref, double *time);

#endif
