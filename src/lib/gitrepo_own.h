/* What gitrepo.c (reading) and gitrepo_write.c share; of no other module. */
#ifndef GITREPO_OWN_H
#define GITREPO_OWN_H

struct git_commit;
struct git_repository;
struct git_tree;

struct gitrepo {
	struct git_repository *repo;
	char *path; /* as it was named */
};

/* Reports what was attempted and why libgit2 could not; returns -1. */
int gitrepo_fail(const char *what, const char *name);

/* Caller frees with git_commit_free; NULL, and an error is reported. */
struct git_commit *gitrepo_find_commit(struct gitrepo *, const char *id);

/* Caller frees with git_tree_free; NULL, and nothing is reported. */
struct git_tree *gitrepo_find_tree(struct git_repository *, const char *id);

#endif
