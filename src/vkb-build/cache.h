/*
 * The folder of finished builds and of the trees they are built in.
 *
 *	builds/KEY/        a finished build, put there whole by a rename
 *	trees/FLAGS.N/     a tree with its objects, for the next build
 *	trees/FLAGS.N.tree the git tree it was last built from, once it was
 *	trees/FLAGS.N.tmp/ temporary files while something is built in it
 *	git/               mirrors, and snapshots of work trees
 *	logs/, locks/, ccache/
 */
#ifndef CACHE_H
#define CACHE_H

#include <stdbool.h>
#include <stddef.h>

struct cache {
	const char *dir; /* absolute */
	bool (*stop)(void *);
	void *arg;
};

/*
 * 'wanted' NULL: vkb in the user's folder of caches. stop() is asked while
 * there is something to wait for. 0, or -1 and said.
 */
int cache_open(
    struct cache *, const char *wanted, bool (*stop)(void *), void *arg);
void cache_close(struct cache *);

/* DIR/KIND/NAME; caller frees. */
char *cache_path(const struct cache *, const char *kind, const char *name);

enum { CACHE_BUSY = -2 };
/*
 * A descriptor that holds the lock, which children of the program hold as well
 * until it is given back; CACHE_BUSY: another has it; -1: said.
 */
int cache_lock(const struct cache *, const char *name);
void cache_unlock(int fd);
/* The same, after waiting for whoever has it. -1: said, or stopped. */
int cache_wait(const struct cache *, const char *name);

/*
 * Removes what was not used for an age (30d, 12h), or what was longest unused
 * until the rest is not over a size (500m, 20g). 0, or -1 and said.
 */
int cache_prune(const struct cache *, const char *limit);

#endif
