#include "target.h"
#include "cache.h"
#include "hash.h"
#include "store.h"

#include "err.h"
#include "json.h"
#include "mem.h"
#include "redact.h"
#include "str.h"
#include "tarball.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ARCHIVES "archives.git"

struct origin {
	struct gitrepo *repo;
	char *url;  /* of the mirror's remote; NULL: local repository */
	char *lock; /* name of its lock */
	char *repository;
	const struct cache *cache;
	bool fresh; /* already fetched by this process */
};

/* Returns the URL without scheme, credentials, github.com and .git. */
static char *
shorten_url(const char *url)
{
	char *clean = redact_copy(url), *s = strstr(clean, "://"), *at, *name;
	size_t n;

	s = s ? s + 3 : clean;
	at = s == clean ? NULL : memchr(s, '@', strcspn(s, "/"));
	s = at ? at + 1 : s;
	if (str_starts(s, "github.com/"))
		s += strlen("github.com/");
	n = strlen(s);
	while (n > 1 && s[n - 1] == '/')
		n--;
	name = mem_strn(s, n);
	if (s != clean && str_ends(name, ".git"))
		name[n - 4] = '\0';
	free(clean);
	return name;
}

static char *
get_repository_name(struct gitrepo *r)
{
	char *origin = gitrepo_origin(r), *name;

	name = origin ? shorten_url(origin) : NULL;
	free(origin);
	return name;
}

struct origin *
target_open_origin(const struct cache *c, const char *url, const char *dir)
{
	struct origin *s = mem_new(sizeof *s);
	/* Credentials are not part of the key: CI tokens change. */
	char *clean = redact_copy(url), key[FLAGS_KEY];
	const char *const texts[] = {clean, NULL};

	s->cache = c;
	if (!dir && !strstr(url, "://") && access(url, F_OK) == 0)
		dir = url;
	if (dir) {
		s->repo = gitrepo_open(dir);
		s->repository = s->repo ? get_repository_name(s->repo) : NULL;
	} else {
		flags_hash(key, texts);
		s->url = mem_str(url);
		s->repository = shorten_url(url);
		s->lock = mem_printf("%.16s.git", key);
		s->repo = store_open(c, s->lock);
	}
	free(clean);
	if (s->repo)
		return s;
	target_free_origin(s);
	return NULL;
}

void
target_free_origin(struct origin *s)
{
	if (!s)
		return;
	gitrepo_free(s->repo);
	free(s->url);
	free(s->lock);
	free(s->repository);
	free(s);
}

static bool
is_commit_id(const char *ref, size_t least)
{
	size_t n = strlen(ref);

	return n >= least && n < GITREPO_ID &&
	    strspn(ref, "0123456789abcdefABCDEF") == n;
}

/*
 * Looks up a revision as gitrepo_find. In a mirror, known commit ids need no
 * fetch; other names are fetched first.
 */
static int
find_commit(struct origin *s, const char *ref, char id[GITREPO_ID])
{
	static const char *const all[] = {
	    "+refs/heads/*:refs/heads/*", "+refs/tags/*:refs/tags/*", NULL};
	const char *one[] = {NULL, NULL};
	char *spec = NULL;
	int rc;

	if (!s->url)
		return gitrepo_find(s->repo, ref, id);
	if (is_commit_id(ref, 7) && (rc = gitrepo_find(s->repo, ref, id)) != 0)
		return rc;
	if (!s->fresh &&
	    store_fetch(s->cache, s->lock, s->repo, s->url, all, true) < 0)
		return -1;
	s->fresh = true;
	if (str_starts(ref, "pr/") && ref[3] &&
	    strspn(ref + 3, "0123456789") == strlen(ref + 3))
		spec = mem_printf(
		    "+refs/pull/%s/head:refs/pull/%s/head", ref + 3, ref + 3);
	one[0] = spec;
	rc = spec &&
		store_fetch(s->cache, s->lock, s->repo, s->url, one, false) < 0
	    ? -1
	    : 0;
	free(spec);
	return rc < 0 ? -1 : gitrepo_find(s->repo, ref, id);
}

/* Splits "LABEL=REST" at the first '='. Returns the rest. */
static const char *
split_label(struct build_target *t, const char *text)
{
	const char *eq = strchr(text, '=');

	if (eq && eq > text)
		t->label = mem_strn(text, (size_t)(eq - text));
	return eq && eq > text ? eq + 1 : text;
}

static void
keep_error(struct build_target *t)
{
	t->error = mem_str(err_last());
	t->repo = t->files = NULL;
}

void
target_find_ref(struct build_target *t, struct origin *s, const char *text)
{
	char id[GITREPO_ID];
	int rc;

	*t = (struct build_target){0};
	t->ref = mem_str(split_label(t, text));
	t->repository = mem_str(s->repository);
	rc = find_commit(s, t->ref, id);
	if (rc == 0)
		rc = err_fail(
		    "no branch, tag, commit or other revision '%s' in '%s'%s",
		    t->ref, s->repository ? s->repository : "?",
		    s->repo ? gitrepo_shallow(s->repo) : "");
	if (rc < 0 || gitrepo_commit(s->repo, id, &t->commit) < 0) {
		keep_error(t);
		return;
	}
	t->repo = t->files = s->repo;
	memcpy(t->tree, t->commit.tree, GITREPO_ID);
}

void
target_find_worktree(
    struct build_target *t, const struct cache *c, const char *text)
{
	char id[GITREPO_ID];
	struct gitrepo *r;
	const char *dir;
	int rc = -1;

	*t = (struct build_target){.worktree = true};
	dir = split_label(t, text);
	t->ref = mem_str("HEAD");
	r = gitrepo_open(dir);
	if (r && (rc = gitrepo_find(r, "HEAD", id)) == 0)
		rc = err_fail("'%s' has no commit yet", dir);
	if (rc < 0 || gitrepo_commit(r, id, &t->commit) < 0)
		goto out;
	rc = -1;
	t->own = store_open(c, "worktrees.git");
	if (!t->own || gitrepo_snapshot(r, t->own, t->tree) < 0)
		goto out;
	t->dirty = strcmp(t->tree, t->commit.tree) != 0;
	t->repository = get_repository_name(r);
	t->repo = r;
	t->files = t->own;
	if (t->dirty && !t->label)
		t->label = mem_printf("%.10s+dirty", t->commit.id);
	rc = 0;
out:
	if (rc == 0)
		return;
	keep_error(t);
	gitrepo_free(r);
}

/* --- release archives */

static int
commit_archive(struct gitrepo *store, const char *ref, const char *file)
{
	struct tarball *in = tarball_open(file);
	int rc = in ? gitrepo_commit_tarball(store, ref, in) : -1;

	tarball_close(in);
	return rc;
}

/* Finds or imports an archive. Returns 0, or -1 after reporting the error. */
static int
ensure_archive(const struct cache *c, struct gitrepo *store, const char *ref,
    const char *file, char id[GITREPO_ID])
{
	int fd = cache_wait(c, ARCHIVES), rc;

	if (fd < 0)
		return -1;
	rc = gitrepo_find(store, ref, id);
	if (rc == 0 && (rc = commit_archive(store, ref, file)) == 0)
		rc = gitrepo_find(store, ref, id);
	cache_unlock(fd);
	return rc < 0 ? -1 : 0;
}

static int
hash_archive(const char *file, char hex[FLAGS_KEY])
{
	if (strstr(file, "://"))
		return err_fail("'%s': archives are not downloaded; give the "
				"name of a file",
		    file);
	if (hash_file(HASH_SHA256, file, hex) < 0)
		return err_fail_sys("cannot read '%s'", file);
	return 0;
}

void
target_find_archive(
    struct build_target *t, const struct cache *c, const char *text)
{
	char id[GITREPO_ID], *ref = NULL;
	const char *file, *slash;
	int rc = -1;

	*t = (struct build_target){0};
	file = split_label(t, text);
	slash = strrchr(file, '/');
	t->ref = mem_str(slash ? slash + 1 : file);
	if (hash_archive(file, t->archive) < 0 ||
	    !(t->own = store_open(c, ARCHIVES)))
		goto out;
	ref = mem_printf("refs/archives/%s", t->archive);
	if (ensure_archive(c, t->own, ref, file, id) < 0 ||
	    gitrepo_commit(t->own, id, &t->commit) < 0)
		goto out;
	memcpy(t->tree, t->commit.tree, GITREPO_ID);
	t->commit.id[0] = '\0';
	t->repo = t->files = t->own;
	rc = 0;
out:
	free(ref);
	if (rc < 0)
		keep_error(t);
}

void
target_free(struct build_target *t)
{
	if (t->worktree)
		gitrepo_free(t->repo);
	gitrepo_free(t->own);
	free(t->label);
	free(t->ref);
	free(t->repository);
	free(t->error);
	gitrepo_commit_free(&t->commit);
}

struct json *
target_describe_subject(const struct build_target *t,
    const struct build_target *server, const struct flags *f)
{
	struct json *j = json_object();

	json_set_str(j, "label", t->label);
	json_set_str(j, "ref", t->ref);
	json_set_str(j, "repository", t->repository);
	if (*t->archive)
		json_set_str(j, "archive_sha256", t->archive);
	if (!t->repo)
		return j;
	if (!server) {
		json_set(j, "build", json_object());
		return j;
	}
	if (*server->commit.id)
		json_set_str(j, "commit", server->commit.id);
	json_set_str(j, "time", server->commit.time);
	if (server->worktree) {
		json_set_bool(j, "dirty", server->dirty);
		json_set_str(j, "tree", server->tree);
	}
	json_set(j, "build", flags_describe(f));
	return j;
}
