/* The trees that are built in; each keeps its objects for the next build. */
#ifndef TREE_H
#define TREE_H

#include <stdbool.h>

#include "gitrepo.h"

struct cache;

struct tree {
	char *dir, *note; /* the note: which git tree it was last built from */
	char *tmp; /* for temporary files: a compiler that is killed leaves some
		    */
	char was[GITREPO_ID]; /* that one, or "": it has no objects */
	int lock;
};

/*
 * Takes a tree that nobody uses: the one nearest to 'id' from which make can go
 * on, else an empty one. 0, or -1 and said.
 */
int tree_take(struct tree *, const struct cache *, const char *flags,
    struct gitrepo *, const char *id);

/* Puts the files of 'id' there; 'empty': after removing all. 0, or -1. */
int tree_fill(struct tree *, struct gitrepo *, const char *id, bool empty);

/* It was built to its end from 'id'. 0, or -1 and said. */
int tree_done(struct tree *, const char *id);
void tree_give(struct tree *); /* to others; {0} does nothing */

#endif
