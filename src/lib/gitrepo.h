/*
 * Git repositories (libgit2). One that is opened is read and never written:
 * not its refs, not its index, not its files. Ids are 40 hex digits.
 */
#ifndef GITREPO_H
#define GITREPO_H

#include <stdbool.h>
#include <stddef.h>

#define GITREPO_ID 41
#define GITREPO_TIME 32

struct gitrepo;

struct gitrepo_commit {
	char id[GITREPO_ID], tree[GITREPO_ID];
	char time[GITREPO_TIME]; /* of the committer, UTC ISO 8601 */
	long long seconds;       /* the same, since 1970 */
	char *title;             /* first line; may hold anything */
	char (*parents)[GITREPO_ID];
	size_t nparents;
};

/* 'path' is a repository, or a folder of its work tree. NULL, and said. */
struct gitrepo *gitrepo_open(const char *path);
/* A bare one of our own at 'path', made where it is missing. NULL, and said. */
struct gitrepo *gitrepo_own(const char *path);
void gitrepo_free(struct gitrepo *);

/* The URL it was cloned from, else its path. Caller frees; NULL: gone. */
char *gitrepo_origin(struct gitrepo *);

/* A file of certificates to trust for https. 0, or -1 and said. */
int gitrepo_certificates(const char *file);

/*
 * Fetches into one of our own what the refspecs (NULL ends them) name; with
 * 'all' they are the whole of it: what has vanished there goes here as well,
 * and HEAD is taken over. stop() is asked now and then. 0, or -1 and said.
 */
int gitrepo_fetch(struct gitrepo *, const char *url, const char *const *specs,
    bool all, bool (*stop)(void *), void *arg);

/*
 * The commit that a branch (also of origin), tag, (short) id, HEAD, pr/NUMBER
 * or another revision of git means. 1; 0: there is no such thing, nothing is
 * said; -1: it is ambiguous or no commit, said.
 */
int gitrepo_find(struct gitrepo *, const char *name, char id[GITREPO_ID]);

/* Has it only the newest commits? */
bool gitrepo_shallow(struct gitrepo *);

/* 0, or -1 and said. */
int gitrepo_commit(struct gitrepo *, const char *id, struct gitrepo_commit *);
void gitrepo_commit_free(struct gitrepo_commit *);

/*
 * fn() of each commit from 'from' back, newest first, children before parents;
 * without 'until' (NULL: to the roots) and what it descends from. Ends early
 * when fn() is not 0, and returns that. -1 and said.
 */
int gitrepo_walk(struct gitrepo *, const char *from, const char *until,
    bool first_parent, int (*fn)(void *arg, const char *id), void *arg);

/*
 * fn() of each path that differs between two trees; 'how' is 'A', 'D' or 'M'.
 * 0, or -1: one of them is not there (nothing is said).
 */
int gitrepo_diff(struct gitrepo *, const char *was, const char *is,
    void (*fn)(void *arg, char how, const char *path), void *arg);

/*
 * Makes the files of 'dir' those of the tree: only what differs is written, and
 * gets one new time. Files of the tree 'was' (NULL: none) that are not in it
 * go; others stay. Submodules are left out. 0, or -1 and said.
 */
int gitrepo_checkout(
    struct gitrepo *, const char *tree, const char *was, const char *dir);

/*
 * Puts the work tree as it is (with what is new, without what is ignored) as a
 * tree into 'store', one of our own. 0, or -1 and said.
 */
int gitrepo_snapshot(
    struct gitrepo *, struct gitrepo *store, char tree[GITREPO_ID]);

struct gitrepo_file {
	const char *path; /* relative */
	bool program, link;
	const char *data;
	size_t len;
	long long time; /* since 1970 */
};

/*
 * Makes a commit, without parents, of the files that next() gives (1, 0 at the
 * end, -1 said), as of the newest of their times. 'ref', of one of our own,
 * then names it. 0, or -1 and said.
 */
int gitrepo_plant(struct gitrepo *, const char *ref,
    int (*next)(void *arg, struct gitrepo_file *), void *arg);

/*
 * Makes git in 'dir' say that 'commit' is checked out, and with 'dirty' show
 * what differs from it; "": that there is no commit yet. 0, or -1 and said.
 */
int gitrepo_pose(
    struct gitrepo *, const char *commit, bool dirty, const char *dir);

#endif
