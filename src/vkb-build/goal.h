/* What is to be built: a commit, a work tree as it is, or a release archive. */
#ifndef GOAL_H
#define GOAL_H

#include <stdbool.h>

#include "flags.h"
#include "gitrepo.h"

struct cache;
struct json;
struct origin;

struct goal {
	char *label, *ref;     /* label may be NULL */
	struct gitrepo *repo;  /* has the commit; NULL: it failed */
	struct gitrepo *files; /* has the tree */
	struct gitrepo *own; /* what of them is for this goal alone, or NULL */
	char *repository;    /* name for people */
	struct gitrepo_commit commit; /* of an archive without its id */
	bool worktree, dirty;
	char archive[FLAGS_KEY]; /* "", or the SHA-256 of the archive */
	char tree[GITREPO_ID];
	char *error; /* why it cannot be built, or NULL */
};

/* Where commits come from: a repository here, or a mirror of one. */
struct origin *origin_open(
    const struct cache *, const char *url, const char *dir);
void origin_free(struct origin *);

/* 'text' is [LABEL=]REF. What fails is said, and in t->error. */
void goal_ref(struct goal *, struct origin *, const char *text);
/* 'text' is [LABEL=]DIR. */
void goal_worktree(struct goal *, const struct cache *, const char *text);
/* Does 'text' name an archive, not a ref? */
bool goal_is_archive(const char *text);
/* 'text' is [LABEL=]FILE. */
void goal_archive(struct goal *, const struct cache *, const char *text);
void goal_free(struct goal *);

/* The subject of its records; caller frees. */
struct json *goal_subject(const struct goal *, const struct flags *);

#endif
