#include "store.h"
#include "cache.h"

#include "err.h"
#include "folder.h"
#include "gitrepo.h"
#include "mem.h"
#include "str.h"

#include <fts.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Creates a repository. Returns 0, or -1 after reporting the error. */
static int
create_repo(const char *path)
{
	char *tmp = mem_printf("%s.new", path);
	struct gitrepo *r = NULL;
	int rc = -1;

	if (folder_remove(tmp) < 0)
		err_fail_sys("cannot remove '%s'", tmp);
	else if ((r = gitrepo_own(tmp))) {
		gitrepo_free(r);
		rc = rename(tmp, path);
		if (rc < 0)
			err_fail_sys("cannot put '%s' in place", path);
	}
	free(tmp);
	return rc;
}

/* Removes unfinished packs (*_git2_*) and locks; no ref can be named x.lock. */
static void
remove_leftovers(const char *path)
{
	char *copy = mem_str(path), *roots[] = {copy, NULL};
	FTS *fts = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
	FTSENT *e;

	while (fts && (e = fts_read(fts))) {
		if (e->fts_info == FTS_D && e->fts_level == 2 &&
		    strlen(e->fts_name) == 2 &&
		    str_ends(e->fts_parent->fts_path, "/objects"))
			fts_set(fts, e, FTS_SKIP); /* loose objects */
		else if (e->fts_info == FTS_F &&
		    (str_ends(e->fts_name, ".lock") ||
			strstr(e->fts_name, "_git2_")))
			unlink(e->fts_path);
	}
	if (fts)
		fts_close(fts);
	free(copy);
}

struct gitrepo *
store_open(const struct cache *c, const char *name)
{
	int fd = cache_wait(c, name);
	char *path = cache_path(c, "git", name);
	struct gitrepo *r = NULL;

	if (fd >= 0 && (access(path, F_OK) == 0 || create_repo(path) == 0)) {
		remove_leftovers(path);
		r = gitrepo_own(path);
	}
	free(path);
	cache_unlock(fd);
	return r;
}
