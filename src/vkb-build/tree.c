#include "tree.h"
#include "cache.h"

#include "err.h"
#include "folder.h"
#include "mem.h"
#include "runas.h"
#include "str.h"
#include "tempfile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TREES 64
#define SPARE 4 /* trees of a kind to try before others are emptied */

struct change {
	size_t n;
	bool far;
};

/*
 * Returns true if make sees the difference by file times. It follows
 * dependencies of changed sources in src, but not the libraries in deps,
 * makefiles, scripts, and new or removed files.
 */
static bool
is_followed_by_make(char how, const char *path)
{
	static const char *const kinds[] = {".c", ".h", ".def", ".json", NULL};
	const char *base = strrchr(path, '/');

	base = base ? base + 1 : path;
	if (str_starts(path, "deps/") || str_ends(base, ".mk") ||
	    strcmp(base, "Makefile") == 0)
		return false;
	if (!str_starts(path, "src/"))
		return true;
	for (size_t i = 0; kinds[i]; i++)
		if (str_ends(base, kinds[i]))
			return how == 'M';
	return false;
}

static void
count_change(void *arg, char how, const char *path)
{
	struct change *c = arg;

	c->n++;
	c->far |= !is_followed_by_make(how, path);
}

static void
read_note(struct tree *t)
{
	FILE *f = fopen(t->note, "r");

	if (!f ||
	    fread(t->built, 1, sizeof t->built - 1, f) != sizeof t->built - 1 ||
	    access(t->dir, X_OK) < 0)
		t->built[0] = '\0';
	if (f)
		fclose(f);
}

/* Returns 1 with the lock held, CACHE_BUSY, or -1 after reporting an error. */
static int
try_tree(struct tree *t, const struct cache *c, const char *flags, int i)
{
	char *name = mem_printf("%.16s.%d", flags, i);

	*t = (struct tree){.lock = cache_lock(c, name)};
	if (t->lock >= 0) {
		t->dir = cache_path(c, "trees", name);
		t->note = mem_printf("%s.tree", t->dir);
		t->tmp = mem_printf("%s.tmp", t->dir);
		read_note(t);
	}
	free(name);
	return t->lock < 0 ? t->lock : 1;
}

int
tree_take(struct tree *best, const struct cache *c, const char *flags,
    struct gitrepo *r, const char *id)
{
	size_t least = (size_t)-1;
	struct change change;
	struct tree t;
	int k, rank = 0, was = 0; /* 1 any, 2 empty, 3 reusable */

	*best = (struct tree){.lock = -1};
	for (int i = 0; i < TREES && (i < SPARE || !was); i++) {
		change = (struct change){0};
		k = try_tree(&t, c, flags, i);
		if (k == -1) {
			tree_release(best);
			return -1;
		}
		if (k == CACHE_BUSY)
			continue;
		rank = 1;
		if (!*t.built)
			rank = access(t.dir, F_OK) < 0 ? 2 : 1;
		else if (gitrepo_diff(r, t.built, id, count_change, &change) ==
			0 &&
		    !change.far)
			rank = 3;
		if (rank > was || (rank == 3 && change.n < least)) {
			tree_release(best);
			*best = t;
			was = rank;
			least = change.n;
		} else
			tree_release(&t);
	}
	if (was < 3)
		best->built[0] = '\0';
	return was
	    ? 0
	    : err_fail("more than %d builds at once in '%s'", TREES, c->dir);
}

int
tree_fill(struct tree *t, struct gitrepo *r, const char *id, bool empty)
{
	int rc;

	if (unlink(t->note) < 0 && access(t->note, F_OK) == 0)
		return err_fail_sys("cannot remove '%s'", t->note);
	if (empty || !*t->built) {
		if (folder_remove(t->dir) < 0)
			return err_fail_sys("cannot empty '%s'", t->dir);
		t->built[0] = '\0';
	}
	if (folder_remove(t->tmp) < 0)
		return err_fail_sys("cannot empty '%s'", t->tmp);
	if (folder_make(t->tmp) < 0 || folder_make(t->dir) < 0 ||
	    runas_give(t->tmp) < 0 || runas_give(t->dir) < 0)
		return -1;
	runas_begin_files(true);
	rc = gitrepo_checkout(r, id, *t->built ? t->built : NULL, t->dir);
	runas_end_files();
	return rc;
}

int
tree_set_built(struct tree *t, const char *id)
{
	char line[GITREPO_ID + 1];
	int n = snprintf(line, sizeof line, "%s\n", id);

	return tempfile_write(t->note, line, (size_t)n);
}

void
tree_release(struct tree *t)
{
	if (t->dir) {
		folder_remove(t->tmp); /* if this fails, the next user of the
					  tree removes it */
		cache_unlock(t->lock);
	}
	free(t->tmp);
	free(t->dir);
	free(t->note);
	*t = (struct tree){.lock = -1};
}
