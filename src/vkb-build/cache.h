/*
 * The folder of finished builds and the trees they are built in.
 *
 *   builds/KEY/        a finished build, renamed into place
 *   trees/FLAGS.N/     a tree with its objects, for the next build
 *   trees/FLAGS.N.tree the git tree it was last built from, if that succeeded
 *   trees/FLAGS.N.tmp/ temporary files of the build in it
 *   git/               mirrors, and snapshots of work trees
 *   logs/, locks/, ccache/, ccache.USER/
 *
 * With a user for code under test (runas.h), trees/FLAGS.N/, its tmp folder and
 * ccache.USER/ belong to that user, and everything else to us.
 */
#ifndef CACHE_H
#define CACHE_H

struct halt;

struct cache {
	char *dir;         /* absolute */
	char *ccache;      /* the folder of ccache: each user has one */
	struct halt *halt; /* borrowed; ends the wait for a lock */
};

/*
 * Opens the cache. 'wanted' NULL: vkb in the user's cache folder. Returns 0, or
 * -1 after reporting the error.
 */
int cache_open(struct cache *, const char *wanted, struct halt *);
void cache_close(struct cache *);

/* Returns DIR/KIND/NAME; the caller frees it. */
char *cache_path(const struct cache *, const char *kind, const char *name);

enum { CACHE_BUSY = -2 };
/*
 * Returns a descriptor that holds the lock, as do child processes until
 * cache_unlock; CACHE_BUSY if another has it; -1 after reporting an error.
 */
int cache_lock(const struct cache *, const char *name);
void cache_unlock(int fd);
/* Same, but waits. Returns -1 after reporting an error, or if stopped. */
int cache_wait(const struct cache *, const char *name);

/*
 * Removes entries unused for an age (30d, 12h), or the longest unused until the
 * rest fits into a size (500m, 20g). Returns 0, or -1 after reporting an error.
 */
int cache_prune(const struct cache *, const char *limit);

#endif
