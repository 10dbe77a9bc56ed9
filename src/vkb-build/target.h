/* What to build: a commit, a work tree as it is, or a release archive. */
#ifndef TARGET_H
#define TARGET_H

#include <stdbool.h>

#include "flags.h"
#include "gitrepo.h"

#define TARGET_VALKEY "https://github.com/valkey-io/valkey.git"

struct cache;
struct json;
struct origin;

struct build_target {
	char *label, *ref;     /* label: or NULL */
	struct gitrepo *repo;  /* has the commit */
	struct gitrepo *files; /* has the tree */
	struct gitrepo *own; /* one of the two, owned by this target; or NULL */
	char *repository;    /* for people */
	struct gitrepo_commit commit; /* without id for an archive */
	bool worktree, dirty;
	char archive[FLAGS_KEY]; /* SHA-256 of the archive, or "" */
	char tree[GITREPO_ID];
};

/* The source of commits: a local repository, or a mirror of a remote one. */
struct origin *target_open_origin(
    const struct cache *, const char *url, const char *dir);
void target_free_origin(struct origin *);

/* 'text' is [LABEL=]REF. These return 0, or -1 after reporting an error; then,
 * too, call target_free. */
int target_find_ref(struct build_target *, struct origin *, const char *text);
/* 'text' is [LABEL=]DIR. */
int target_find_worktree(
    struct build_target *, const struct cache *, const char *text);
/* 'text' is [LABEL=]FILE. */
int target_find_archive(
    struct build_target *, const struct cache *, const char *text);
void target_free(struct build_target *);

/* Returns the subject for records, of a target and the server that it is, or
 * that a module of it is built for; NULL: one that is not built. The caller
 * frees it. */
struct json *target_describe_subject(const struct build_target *,
    const struct build_target *server, const struct flags *);

#endif
