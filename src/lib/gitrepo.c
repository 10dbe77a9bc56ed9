#include "gitrepo.h"
#include "gitrepo_own.h"
#include "err.h"
#include "mem.h"
#include "str.h"

#include <git2.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

int
gitrepo_fail(const char *what, const char *name)
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
	gitrepo_fail(what, r->path);
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
	return rc < 0 ? gitrepo_fail("cannot use the certificates", file) : 0;
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
		gitrepo_fail("cannot fetch from", url);
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
		return gitrepo_fail("cannot find the commit of", name);
	if (rc == GIT_ENOTFOUND || rc == GIT_EINVALIDSPEC)
		return 0;
	return gitrepo_fail("cannot resolve", name);
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
		rc = gitrepo_fail("cannot find a commit for", name);
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

git_commit *
gitrepo_find_commit(struct gitrepo *r, const char *id)
{
	git_commit *c = NULL;
	git_oid oid;

	if (git_oid_fromstr(&oid, id) == 0 &&
	    git_commit_lookup(&c, r->repo, &oid) == 0)
		return c;
	gitrepo_fail("cannot read the commit", id);
	return NULL;
}

int
gitrepo_commit(struct gitrepo *r, const char *id, struct gitrepo_commit *out)
{
	git_commit *c = gitrepo_find_commit(r, id);
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
		return gitrepo_fail("cannot read the history of", from);
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
		rc = gitrepo_fail("cannot read the history of", from);
out:
	git_revwalk_free(w);
	return rc;
}

git_tree *
gitrepo_find_tree(git_repository *repo, const char *id)
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
	git_tree *a = gitrepo_find_tree(r->repo, was),
		 *b = gitrepo_find_tree(r->repo, is);
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
