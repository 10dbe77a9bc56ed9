/*
 * Git repositories (libgit2). One that is opened is read and never written: not
 * its refs, not its index, not its files. Ids are 40 hex digits. A function
 * that returns -1 or NULL has reported an error, unless its comment says
 * otherwise.
 */
#ifndef GITREPO_H
#define GITREPO_H

#include <stdbool.h>
#include <stddef.h>

#define GITREPO_ID 41
#define GITREPO_TIME 32

struct gitrepo;
struct tarball;

struct gitrepo_commit {
	char id[GITREPO_ID], tree[GITREPO_ID];
	char time[GITREPO_TIME]; /* of the committer, UTC ISO 8601 */
	long long seconds;       /* the same, seconds since 1970 */
	char *title;             /* first line; may hold anything */
	char (*parents)[GITREPO_ID];
	size_t nparents;
};

/* 'path' is a repository, or a folder of its work tree. */
struct gitrepo *gitrepo_open(const char *path);
/* Opens a bare repository of our own, which is made if it is missing. */
struct gitrepo *gitrepo_own(const char *path);
void gitrepo_free(struct gitrepo *);

/* Returns the URL it was cloned from, else its path; caller frees. NULL if it
 * was removed, not reported. */
char *gitrepo_origin(struct gitrepo *);

/* Trusts a file of certificates for https. Returns 0 or -1. */
int gitrepo_certificates(const char *file);

/*
 * Fetches the refspecs (ended by NULL) into a repository of our own. With 'all'
 * they must cover all refs: refs that the remote no longer has are removed, and
 * HEAD is set to that of the remote. Returns 0 or -1.
 */
int gitrepo_fetch(
    struct gitrepo *, const char *url, const char *const *specs, bool all);

/*
 * Finds the commit of a branch (also of origin), tag, (short) id, HEAD,
 * pr/NUMBER or another revision of git. Returns 1; 0, not reported, if nothing
 * has that name; or -1 if it is ambiguous or no commit.
 */
int gitrepo_find(struct gitrepo *, const char *name, char id[GITREPO_ID]);

/* Returns how a message ends that says that a commit is not there: what to do
 * if the repository has only the newest commits, or "". */
const char *gitrepo_shallow(struct gitrepo *);

/* Reads a commit; free it with gitrepo_commit_free. Returns 0 or -1. */
int gitrepo_commit(struct gitrepo *, const char *id, struct gitrepo_commit *);
void gitrepo_commit_free(struct gitrepo_commit *);

/*
 * Calls fn() for each commit from 'from' back, newest first, children before
 * parents, without 'until' and its ancestors (NULL: to the roots). Returns 0,
 * -1, or what fn() returned if that is not 0, which ends the walk.
 */
int gitrepo_walk(struct gitrepo *, const char *from, const char *until,
    bool first_parent, int (*fn)(void *arg, const char *id), void *arg);

/* Calls fn() for each path that differs between two trees; 'how' is 'A', 'D' or
 * 'M'. Returns 0, or -1, not reported, if a tree is missing. */
int gitrepo_diff(struct gitrepo *, const char *was, const char *is,
    void (*fn)(void *arg, char how, const char *path), void *arg);

/*
 * Makes the files of 'dir' those of the tree. Only files that differ are
 * written; they get one new time. Files of the tree 'was' (or NULL) that are
 * not in the tree are removed, others stay, submodules are left out. Returns 0
 * or -1.
 */
int gitrepo_checkout(
    struct gitrepo *, const char *tree, const char *was, const char *dir);

/* Writes the work tree, with new files and without ignored ones, as a tree to
 * 'store', a repository of our own. Returns 0 or -1. */
int gitrepo_snapshot(
    struct gitrepo *, struct gitrepo *store, char tree[GITREPO_ID]);

/*
 * Makes a commit without parents of the files in an archive, dated by the
 * newest of them, and sets 'ref' of a repository of our own to it. Returns 0 or
 * -1.
 */
int gitrepo_commit_tarball(struct gitrepo *, const char *ref, struct tarball *);

/* Makes git in 'dir' show 'commit' as checked out ("": no commit yet) and, with
 * 'dirty', the differences from it. Returns 0 or -1. */
int gitrepo_fake_checkout(
    struct gitrepo *, const char *commit, bool dirty, const char *dir);

#endif
