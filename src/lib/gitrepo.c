#include "gitrepo.h"
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

struct gitrepo {
	git_repository *repo;
	char *path; /* as it was named */
};

/* Reports what was attempted and why libgit2 could not; returns -1. */
static int
report_failure(const char *what, const char *name)
{
	const git_error *e = git_error_last();

	return err_fail("%s '%s': %s", what, name,
	    e && e->message ? e->message : "libgit2 gives no reason");
}

static struct gitrepo *
make_handle(const char *path)
{
	/* None of these changes how commits are read. */
	static const char *extensions[] = {"worktreeconfig", "preciousobjects",
	    "partialclone", "relativeworktrees"};
	struct gitrepo *r = mem_new(sizeof *r);

	git_libgit2_init();
	git_libgit2_opts(GIT_OPT_SET_EXTENSIONS, extensions,
	    sizeof extensions / sizeof *extensions);
	/* No code of a repository is run, so that its owner does not matter. */
	git_libgit2_opts(GIT_OPT_SET_OWNER_VALIDATION, 0);
	r->path = mem_str(path);
	return r;
}

/* Returns the repository, or NULL after reporting that it was not opened. */
static struct gitrepo *
check_handle(struct gitrepo *r, const char *what)
{
	if (r->repo)
		return r;
	report_failure(what, r->path);
	gitrepo_free(r);
	return NULL;
}

struct gitrepo *
gitrepo_open(const char *path)
{
	struct gitrepo *r = make_handle(path);

	git_repository_open_ext(&r->repo, path, 0, NULL);
	return check_handle(r, "cannot open the repository");
}

struct gitrepo *
gitrepo_own(const char *path)
{
	struct gitrepo *r = make_handle(path);

	if (git_repository_open_bare(&r->repo, path) < 0)
		git_repository_init(&r->repo, path, 1);
	return check_handle(r, "cannot make the repository");
}

void
gitrepo_free(struct gitrepo *r)
{
	if (!r)
		return;
	git_repository_free(r->repo);
	git_libgit2_shutdown();
	free(r->path);
	free(r);
}

int
gitrepo_certificates(const char *file)
{
	int rc;

	git_libgit2_init();
	rc = git_libgit2_opts(GIT_OPT_SET_SSL_CERT_LOCATIONS, file, NULL);
	return rc < 0 ? report_failure("cannot use the certificates", file) : 0;
}

char *
gitrepo_origin(struct gitrepo *r)
{
	git_remote *remote = NULL;
	char *url = NULL;

	if (git_remote_lookup(&remote, r->repo, "origin") == 0)
		url = mem_str(git_remote_url(remote));
	git_remote_free(remote);
	if (url && strstr(url, "://"))
		return url;
	free(url);
	return realpath(r->path, NULL);
}

/* --- fetching */

/* Sets HEAD to that of the remote; keeps it if the remote names none. */
static void
copy_head(git_repository *repo, git_remote *remote)
{
	git_buf name = {0};

	if (git_remote_default_branch(&name, remote) == 0)
		git_repository_set_head(repo, name.ptr);
	git_buf_dispose(&name);
}

int
gitrepo_fetch(
    struct gitrepo *r, const char *url, const char *const *specs, bool all)
{
	git_fetch_options o;
	git_remote *remote = NULL;
	git_strarray list = {.strings = (char **)(size_t)specs};
	int rc = -1;

	git_fetch_options_init(&o, GIT_FETCH_OPTIONS_VERSION);
	o.download_tags = GIT_REMOTE_DOWNLOAD_TAGS_NONE;
	o.update_fetchhead = 0;
	o.prune = all ? GIT_FETCH_PRUNE : GIT_FETCH_NO_PRUNE;
	while (specs[list.count])
		list.count++;
	if (git_remote_create_anonymous(&remote, r->repo, url) < 0 ||
	    git_remote_fetch(remote, &list, &o, NULL) < 0)
		report_failure("cannot fetch from", url);
	else
		rc = 0;
	if (rc == 0 && all)
		copy_head(r->repo, remote);
	git_remote_free(remote);
	return rc;
}

/* --- names and commits */

/* Returns true if a ref of that name leads to an id, even a missing one. */
static bool
is_ref(struct gitrepo *r, const char *name)
{
	git_reference *ref = NULL, *end = NULL;
	bool is = git_reference_dwim(&ref, r->repo, name) == 0 &&
	    git_reference_resolve(&end, ref) == 0;

	git_reference_free(end);
	git_reference_free(ref);
	return is;
}

/* Returns 1, 0 if nothing has that name, or -1 and an error is reported. */
static int
parse_name(struct gitrepo *r, const char *name, git_object **obj)
{
	int rc = git_revparse_single(obj, r->repo, name);

	if (rc == 0)
		return 1;
	if (rc == GIT_ENOTFOUND && is_ref(r, name))
		return report_failure("cannot find the commit of", name);
	if (rc == GIT_ENOTFOUND || rc == GIT_EINVALIDSPEC)
		return 0;
	return report_failure("cannot resolve", name);
}

static bool
is_pull_request(const char *name)
{
	return str_starts(name, "pr/") && name[3] &&
	    strspn(name + 3, "0123456789") == strlen(name + 3);
}

int
gitrepo_find(struct gitrepo *r, const char *name, char id[GITREPO_ID])
{
	git_object *obj = NULL, *commit = NULL;
	char *other;
	int rc = 0;

	if (is_pull_request(name)) {
		other = mem_printf("refs/pull/%s/head", name + 3);
		rc = parse_name(r, other, &obj);
		free(other);
	}
	if (rc == 0 && *name)
		rc = parse_name(r, name, &obj);
	if (rc == 0 && *name) {
		other = str_starts(name, "origin/")
		    ? mem_str(name + strlen("origin/"))
		    : mem_printf("origin/%s", name);
		rc = parse_name(r, other, &obj);
		free(other);
	}
	if (rc == 1 && git_object_peel(&commit, obj, GIT_OBJECT_COMMIT) < 0)
		rc = report_failure("cannot find a commit for", name);
	if (rc == 1)
		git_oid_tostr(id, GITREPO_ID, git_object_id(commit));
	git_object_free(commit);
	git_object_free(obj);
	return rc;
}

const char *
gitrepo_shallow(struct gitrepo *r)
{
	return git_repository_is_shallow(r->repo) == 1
	    ? ", which is shallow; get the rest with 'git fetch --unshallow'"
	    : "";
}

/* Caller frees with git_commit_free; NULL, and an error is reported. */
static git_commit *
find_commit(struct gitrepo *r, const char *id)
{
	git_commit *c = NULL;
	git_oid oid;

	if (git_oid_fromstr(&oid, id) == 0 &&
	    git_commit_lookup(&c, r->repo, &oid) == 0)
		return c;
	report_failure("cannot read the commit", id);
	return NULL;
}

int
gitrepo_commit(struct gitrepo *r, const char *id, struct gitrepo_commit *out)
{
	git_commit *c = find_commit(r, id);
	struct tm tm;
	time_t t;

	*out = (struct gitrepo_commit){0};
	if (!c)
		return -1;
	t = (time_t)git_commit_time(c);
	out->seconds = t;
	if (gmtime_r(&t, &tm))
		strftime(
		    out->time, sizeof out->time, "%Y-%m-%dT%H:%M:%SZ", &tm);
	git_oid_tostr(out->id, GITREPO_ID, git_commit_id(c));
	git_oid_tostr(out->tree, GITREPO_ID, git_commit_tree_id(c));
	out->title = mem_str(git_commit_summary(c));
	out->nparents = git_commit_parentcount(c);
	out->parents = mem_array(out->nparents + 1, sizeof *out->parents);
	for (size_t i = 0; i < out->nparents; i++)
		git_oid_tostr(out->parents[i], GITREPO_ID,
		    git_commit_parent_id(c, (unsigned)i));
	git_commit_free(c);
	return 0;
}

void
gitrepo_commit_free(struct gitrepo_commit *c)
{
	free(c->title);
	free(c->parents);
}

int
gitrepo_walk(struct gitrepo *r, const char *from, const char *until,
    bool first_parent, int (*fn)(void *, const char *), void *arg)
{
	git_revwalk *w = NULL;
	char id[GITREPO_ID];
	git_oid a, b;
	int rc;

	if (git_oid_fromstr(&a, from) < 0 ||
	    (until && git_oid_fromstr(&b, until) < 0) ||
	    git_revwalk_new(&w, r->repo) < 0)
		return report_failure("cannot read the history of", from);
	git_revwalk_sorting(w, GIT_SORT_TOPOLOGICAL | GIT_SORT_TIME);
	if (first_parent)
		git_revwalk_simplify_first_parent(w);
	rc = git_revwalk_push(w, &a);
	if (rc == 0 && until)
		rc = git_revwalk_hide(w, &b);
	if (rc == 0)
		while ((rc = git_revwalk_next(&a, w)) == 0) {
			git_oid_tostr(id, sizeof id, &a);
			if ((rc = fn(arg, id)) != 0)
				goto out;
		}
	if (rc == GIT_ITEROVER)
		rc = 0;
	else if (*gitrepo_shallow(r))
		rc = err_fail("the repository '%s' is shallow; 'git fetch "
			      "--unshallow' gets the rest of its history",
		    r->path);
	else
		rc = report_failure("cannot read the history of", from);
out:
	git_revwalk_free(w);
	return rc;
}

/* Caller frees with git_tree_free; NULL, and nothing is reported. */
static git_tree *
find_tree(git_repository *repo, const char *id)
{
	git_tree *t = NULL;
	git_oid oid;

	if (git_oid_fromstr(&oid, id) == 0 &&
	    git_tree_lookup(&t, repo, &oid) == 0)
		return t;
	return NULL;
}

int
gitrepo_diff(struct gitrepo *r, const char *was, const char *is,
    void (*fn)(void *, char, const char *), void *arg)
{
	git_tree *a = find_tree(r->repo, was), *b = find_tree(r->repo, is);
	const git_diff_delta *d;
	git_diff *diff = NULL;
	int rc = -1;

	if (a && b && git_diff_tree_to_tree(&diff, r->repo, a, b, NULL) == 0) {
		for (size_t i = 0; i < git_diff_num_deltas(diff); i++) {
			d = git_diff_get_delta(diff, i);
			fn(arg,
			    d->status == GIT_DELTA_ADDED         ? 'A'
				: d->status == GIT_DELTA_DELETED ? 'D'
								 : 'M',
			    d->new_file.path);
		}
		rc = 0;
	}
	git_diff_free(diff);
	git_tree_free(a);
	git_tree_free(b);
	return rc;
}

/* --- trees and commits of our own */

struct written {
	char **v;
	size_t n, cap;
};

static void
note_path(const char *path, size_t done, size_t all, void *arg)
{
	struct written *w = arg;

	(void)done;
	(void)all;
	if (!path)
		return;
	*MEM_ADD(w->v, w->n, w->cap) = mem_str(path);
}

/* Gives all files one time, so that none is newer. Frees w->v. */
static void
stamp_files(struct written *w, const char *dir)
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
	git_tree *t = find_tree(repo, tree);
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
	struct written w = {0};
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
		report_failure("cannot read the tree", tree);
		goto out;
	}
	o.baseline_index = old;
	if (git_checkout_index(mem, files, &o) < 0)
		report_failure("cannot check out into", dir);
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
		report_failure("cannot read the work tree", r->path);
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
			report_failure("cannot store the file", f.path);
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
		report_failure("cannot write", r->path);
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
	git_commit *c = find_commit(r, commit);
	git_index *index = NULL;
	git_tree *t = NULL;
	int rc = -1;

	if (c && git_commit_tree(&t, c) == 0 &&
	    git_index_open(&index, path) == 0 &&
	    git_index_read_tree(index, t) == 0 && git_index_write(index) == 0)
		rc = 0;
	else if (c)
		report_failure("cannot write", path);
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
