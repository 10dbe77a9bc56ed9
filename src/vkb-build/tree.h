/* Trees to build in; each keeps its objects for the next build. */
#ifndef TREE_H
#define TREE_H

#include <stdbool.h>

#include "gitrepo.h"

struct cache;

struct tree {
	char *dir, *note; /* note: a file that names the git tree below */
	char *tmp; /* for temporary files, which killed compilers leave */
	char built[GITREPO_ID]; /* last built git tree, or "": no objects */
	int lock;
};

/*
 * Locks an unused tree: the one with the fewest changes to 'id' that make can
 * follow, else an empty one. Returns 0, or -1 after reporting the error.
 */
int tree_take(struct tree *, const struct cache *, const char *flags,
    struct gitrepo *, const char *id);

/* Checks out 'id'; 'empty': into an empty tree. Returns 0, -1 on error. */
int tree_fill(struct tree *, struct gitrepo *, const char *id, bool empty);

/* Records that 'id' was built. Returns 0, or -1 after reporting the error. */
int tree_set_built(struct tree *, const char *id);
void tree_release(struct tree *); /* unlocks it; {0} does nothing */

#endif
