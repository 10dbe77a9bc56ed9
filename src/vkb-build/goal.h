/* What to build: a commit, a work tree as it is, or a release archive. */
#ifndef GOAL_H
#define GOAL_H

#include <stdbool.h>

#include "flags.h"
#include "gitrepo.h"

struct cache;
struct json;
struct origin;

struct goal {
	char *label, *ref;     /* label: or NULL */
	struct gitrepo *repo;  /* has the commit; NULL: failed */
	struct gitrepo *files; /* has the tree */
	struct gitrepo *own;   /* one of the two, owned by this goal; or NULL */
	char *repository;      /* for people */
	struct gitrepo_commit commit; /* without id for an archive */
	bool worktree, dirty;
	char archive[FLAGS_KEY]; /* SHA-256 of the archive, or "" */
	char tree[GITREPO_ID];
	char *error; /* why it cannot be built, or NULL */
};

/* The source of commits: a local repository, or a mirror of a remote one. */
struct origin *origin_open(
    const struct cache *, const char *url, const char *dir);
void origin_free(struct origin *);

/* 'text' is [LABEL=]REF. Errors are reported and stored in t->error. */
void goal_ref(struct goal *, struct origin *, const char *text);
/* 'text' is [LABEL=]DIR. */
void goal_worktree(struct goal *, const struct cache *, const char *text);
/* Returns true if 'text' names an archive, not a ref. */
bool goal_is_archive(const char *text);
/* 'text' is [LABEL=]FILE. */
void goal_archive(struct goal *, const struct cache *, const char *text);
void goal_free(struct goal *);

/* Returns the subject for records; the caller frees it. */
struct json *goal_subject(const struct goal *, const struct flags *);

#endif
