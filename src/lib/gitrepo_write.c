#include "gitrepo.h"
#include "gitrepo_own.h"
#include "err.h"
#include "folder.h"
#include "mem.h"
#include "str.h"
#include "tarball.h"
#include "tempfile.h"

#include <fcntl.h>
#include <git2.h>
#include <git2/sys/repository.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

struct verify_written {
	char **v;
	size_t n, cap;
};

static void
note_path(const char *path, size_t done, size_t all, void *arg)
{
	struct verify_written *w = arg;

	(void)done;
	(void)all;
	if (!path)
		return;
	w->v = mem_grow(w->v, w->n, &w->cap, sizeof *w->v);
	w->v[w->n++] = mem_str(path);
}

/* Gives all files one time, so that none is newer. Frees w->v. */
static void
stamp_files(struct verify_written *w, const char *dir)
{
	struct timespec t[2];
	char *path;

	clock_gettime(CLOCK_REALTIME, &t[0]);
	t[1] = t[0];
	for (size_t i = 0; i < w->n; i++) {
		path = mem_printf("%s/%s", dir, w->v[i]);
		utimensat(AT_FDCWD, path, t, AT_SYMLINK_NOFOLLOW);
		free(path);
		free(w->v[i]);
	}
	free(w->v);
}

/* Returns the index of a tree without submodules, which are not of its
 * repository; NULL on an error of libgit2. */
static git_index *
read_index(git_repository *repo, const char *tree)
{
	git_tree *t = gitrepo_find_tree(repo, tree);
	git_index *index = NULL;
	const git_index_entry *e;
	size_t i = 0;

	if (!t || git_index_new(&index) < 0 ||
	    git_index_read_tree(index, t) < 0)
		goto wrong;
	while ((e = git_index_get_byindex(index, i)))
		if (e->mode != GIT_FILEMODE_COMMIT)
			i++;
		else if (git_index_remove(index, e->path, 0) < 0)
			goto wrong;
	git_tree_free(t);
	return index;
wrong:
	git_tree_free(t);
	git_index_free(index);
	return NULL;
}

/* Uses a repository in memory that shares only the objects with the real one:
 * its settings, attributes and index neither matter nor change. */
int
gitrepo_checkout(
    struct gitrepo *r, const char *tree, const char *was, const char *dir)
{
	git_checkout_options o;
	git_repository *mem = NULL;
	git_index *files = NULL, *old = NULL, *own = NULL;
	struct verify_written w = {0};
	git_odb *odb = NULL;
	int rc = -1;

	git_checkout_options_init(&o, GIT_CHECKOUT_OPTIONS_VERSION);
	o.checkout_strategy = GIT_CHECKOUT_FORCE |
	    GIT_CHECKOUT_DONT_UPDATE_INDEX | GIT_CHECKOUT_DONT_WRITE_INDEX |
	    GIT_CHECKOUT_NO_REFRESH;
	o.target_directory = dir;
	o.disable_filters = 1;
	o.progress_cb = note_path;
	o.progress_payload = &w;
	if (git_repository_odb(&odb, r->repo) < 0 ||
	    git_repository_wrap_odb(&mem, odb) < 0 || git_index_new(&own) < 0 ||
	    git_repository_set_index(mem, own) < 0 ||
	    !(files = read_index(mem, tree)) ||
	    (was && !(old = read_index(mem, was)))) {
		gitrepo_fail("cannot read the tree", tree);
		goto out;
	}
	o.baseline_index = old;
	if (git_checkout_index(mem, files, &o) < 0)
		gitrepo_fail("cannot check out into", dir);
	else
		rc = 0;
out:
	stamp_files(&w, dir);
	git_index_free(files);
	git_index_free(old);
	git_index_free(own);
	git_repository_free(mem);
	git_odb_free(odb);
	return rc;
}

/* Adds a path of the work tree. Returns 0, or -1 on an error of libgit2. */
static int
add_path(git_index *index, git_repository *store, const char *workdir,
    const git_status_entry *e)
{
	const git_diff_delta *d = e->index_to_workdir;
	git_index_entry entry = {0};
	char *path;
	int rc;

	/* Repositories within the work tree are left out, submodules or not. */
	if (!d || d->status == GIT_DELTA_DELETED ||
	    d->new_file.mode == GIT_FILEMODE_COMMIT ||
	    str_ends(d->new_file.path, "/"))
		return 0;
	entry.path = d->new_file.path;
	entry.mode = d->new_file.mode;
	entry.id = d->old_file.id;
	if (e->status != GIT_STATUS_CURRENT) {
		path = mem_printf("%s%s", workdir, entry.path);
		rc = git_blob_create_from_disk(&entry.id, store, path);
		free(path);
		if (rc < 0)
			return rc;
	}
	return git_index_add(index, &entry);
}

int
gitrepo_snapshot(
    struct gitrepo *r, struct gitrepo *store, char tree[GITREPO_ID])
{
	git_status_options o;
	const char *workdir = git_repository_workdir(r->repo);
	git_status_list *list = NULL;
	git_index *index = NULL;
	git_odb *odb = NULL;
	git_buf objects = {0};
	git_oid id;
	int rc = -1;

	if (!workdir)
		return err_fail("'%s' has no work tree", r->path);
	git_status_options_init(&o, GIT_STATUS_OPTIONS_VERSION);
	o.show = GIT_STATUS_SHOW_WORKDIR_ONLY;
	o.flags = GIT_STATUS_OPT_INCLUDE_UNTRACKED |
	    GIT_STATUS_OPT_RECURSE_UNTRACKED_DIRS |
	    GIT_STATUS_OPT_INCLUDE_UNMODIFIED |
	    GIT_STATUS_OPT_EXCLUDE_SUBMODULES;
	if (git_repository_item_path(
		&objects, r->repo, GIT_REPOSITORY_ITEM_OBJECTS) < 0 ||
	    git_repository_odb(&odb, store->repo) < 0 ||
	    git_odb_add_disk_alternate(odb, objects.ptr) < 0 ||
	    git_index_new(&index) < 0 ||
	    git_status_list_new(&list, r->repo, &o) < 0)
		goto out;
	for (size_t i = 0; i < git_status_list_entrycount(list); i++) {
		const git_status_entry *e = git_status_byindex(list, i);

		if (e->status & GIT_STATUS_CONFLICTED) {
			err_fail("'%s' has conflicts that are not resolved",
			    r->path);
			goto done;
		}
		if (add_path(index, store->repo, workdir, e) < 0)
			goto out;
	}
	if (git_index_write_tree_to(&id, index, store->repo) < 0)
		goto out;
	git_oid_tostr(tree, GITREPO_ID, &id);
	rc = 0;
out:
	if (rc < 0)
		gitrepo_fail("cannot read the work tree", r->path);
done:
	git_buf_dispose(&objects);
	git_status_list_free(list);
	git_index_free(index);
	git_odb_free(odb);
	return rc;
}

/* Returns 0, or -1 on an error of libgit2. */
static int
add_file(git_repository *repo, git_index *index, const struct tarball_file *f)
{
	git_index_entry entry = {.path = f->path,
	    .mode = f->link  ? GIT_FILEMODE_LINK
		: f->program ? GIT_FILEMODE_BLOB_EXECUTABLE
			     : GIT_FILEMODE_BLOB};

	if (git_blob_create_from_buffer(&entry.id, repo, f->data, f->len) < 0)
		return -1;
	return git_index_add(index, &entry);
}

int
gitrepo_commit_tarball(
    struct gitrepo *r, const char *ref, struct tarball *archive)
{
	struct tarball_file f;
	git_signature *who = NULL;
	git_index *index = NULL;
	git_tree *tree = NULL;
	git_reference *made = NULL;
	long long newest = 0;
	git_oid id;
	int rc = -1, k = -1;

	if (git_index_new(&index) < 0)
		goto out;
	while ((k = tarball_next(archive, &f)) > 0) {
		if (add_file(r->repo, index, &f) < 0) {
			gitrepo_fail("cannot store the file", f.path);
			goto done;
		}
		newest = f.time > newest ? f.time : newest;
	}
	if (k == 0 && git_index_write_tree_to(&id, index, r->repo) == 0 &&
	    git_tree_lookup(&tree, r->repo, &id) == 0 &&
	    git_signature_new(&who, "vkb", "vkb", newest, 0) == 0 &&
	    git_commit_create(
		&id, r->repo, NULL, who, who, NULL, ref, tree, 0, NULL) == 0 &&
	    git_reference_create(&made, r->repo, ref, &id, 1, NULL) == 0)
		rc = 0;
out:
	if (rc < 0 && k >= 0)
		gitrepo_fail("cannot write", r->path);
done:
	git_reference_free(made);
	git_signature_free(who);
	git_tree_free(tree);
	git_index_free(index);
	return rc;
}

static int
write_text(const char *dir, const char *name, const char *text)
{
	char *path = mem_printf("%s/.git/%s", dir, name);
	struct tempfile *t = tempfile_open(path);

	free(path);
	if (!t)
		return -1;
	fputs(text, tempfile_stream(t)); /* tempfile_commit asks ferror() */
	return tempfile_commit(t);
}

static int
write_index(struct gitrepo *r, const char *commit, const char *dir)
{
	char *path = mem_printf("%s/.git/index", dir);
	git_commit *c = gitrepo_find_commit(r, commit);
	git_index *index = NULL;
	git_tree *t = NULL;
	int rc = -1;

	if (c && git_commit_tree(&t, c) == 0 &&
	    git_index_open(&index, path) == 0 &&
	    git_index_read_tree(index, t) == 0 && git_index_write(index) == 0)
		rc = 0;
	else if (c)
		gitrepo_fail("cannot write", path);
	git_index_free(index);
	git_tree_free(t);
	git_commit_free(c);
	free(path);
	return rc;
}

int
gitrepo_fake_checkout(
    struct gitrepo *r, const char *commit, bool dirty, const char *dir)
{
	char *head = *commit ? mem_printf("%s\n", commit)
			     : mem_str("ref: refs/heads/none\n");
	char *alternates, *refs, *info;
	git_buf objects = {0};
	int rc = -1;

	refs = mem_printf("%s/.git/refs", dir);
	info = mem_printf("%s/.git/objects/info", dir);
	git_repository_item_path(
	    &objects, r->repo, GIT_REPOSITORY_ITEM_OBJECTS);
	alternates = mem_printf("%s\n", objects.ptr ? objects.ptr : "");
	if (folder_make(refs) == 0 && folder_make(info) == 0 &&
	    write_text(dir, "HEAD", head) == 0 &&
	    write_text(dir, "objects/info/alternates", alternates) == 0 &&
	    write_text(dir, "config",
		"[core]\n\trepositoryformatversion = 0\n") == 0 &&
	    (!dirty || write_index(r, commit, dir) == 0))
		rc = 0;
	git_buf_dispose(&objects);
	free(head);
	free(alternates);
	free(refs);
	free(info);
	return rc;
}
