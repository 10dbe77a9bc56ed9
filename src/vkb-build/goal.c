#include "goal.h"
#include "cache.h"

#include "err.h"
#include "json.h"
#include "mem.h"
#include "str.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct origin {
	struct gitrepo *repo;
	char *url;  /* of a mirror, or NULL */
	char *lock; /* its name */
	char *repository;
	const struct cache *cache;
	bool fresh; /* it was fetched */
	bool (*stop)(void *);
	void *arg;
};

/* github.com is left out, and so is who logs in. */
static char *
short_name(const char *url)
{
	const char *s = strstr(url, "://"), *at;
	char *name;
	size_t n;

	s = s ? s + 3 : url;
	at = s == url ? NULL : memchr(s, '@', strcspn(s, "/"));
	s = at ? at + 1 : s;
	if (str_starts(s, "github.com/"))
		s += strlen("github.com/");
	n = strlen(s);
	while (n > 1 && s[n - 1] == '/')
		n--;
	name = mem_strn(s, n);
	if (s != url && str_ends(name, ".git"))
		name[n - 4] = '\0';
	return name;
}

static char *
name_of(struct gitrepo *r)
{
	char *origin = gitrepo_origin(r), *name;

	name = origin ? short_name(origin) : NULL;
	free(origin);
	return name;
}

/* Waits for whoever fetches at this time. */
static int
lock(struct origin *s)
{
	int fd;

	while ((fd = cache_lock(s->cache, s->lock)) == CACHE_BUSY) {
		if (s->stop(s->arg))
			return err_fail("stopped");
		poll(NULL, 0, 50);
	}
	return fd;
}

static int
fetch(struct origin *s, const char *const *specs, bool all)
{
	int fd = lock(s), rc;

	if (fd < 0)
		return -1;
	rc = gitrepo_fetch(s->repo, s->url, specs, all, s->stop, s->arg);
	cache_unlock(fd);
	return rc;
}

struct origin *
origin_open(const struct cache *c, const char *url, const char *dir,
    bool (*stop)(void *), void *arg)
{
	struct origin *s = mem_new(sizeof *s);
	const char *const texts[] = {url, NULL};
	char key[FLAGS_KEY], *path;

	s->cache = c;
	s->stop = stop;
	s->arg = arg;
	if (!dir && !strstr(url, "://") && access(url, F_OK) == 0)
		dir = url;
	if (dir) {
		s->repo = gitrepo_open(dir);
		s->repository = s->repo ? name_of(s->repo) : NULL;
	} else if (flags_key(key, texts) == 0) {
		s->url = mem_str(url);
		s->repository = short_name(url);
		s->lock = mem_printf("%.16s.git", key);
		path = cache_path(c, "git", s->lock);
		s->repo = gitrepo_own(path);
		free(path);
	}
	if (s->repo)
		return s;
	origin_free(s);
	return NULL;
}

void
origin_free(struct origin *s)
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
is_id(const char *ref, size_t least)
{
	size_t n = strlen(ref);

	return n >= least && n < GITREPO_ID &&
	    strspn(ref, "0123456789abcdefABCDEF") == n;
}

/*
 * In a mirror: an id that is there needs no fetch, all else is what it is now.
 * As gitrepo_find.
 */
static int
find(struct origin *s, const char *ref, char id[GITREPO_ID])
{
	static const char *const all[] = {
	    "+refs/heads/*:refs/heads/*", "+refs/tags/*:refs/tags/*", NULL};
	const char *one[] = {NULL, NULL};
	char *spec = NULL;
	int rc;

	if (!s->url)
		return gitrepo_find(s->repo, ref, id);
	if (is_id(ref, 7) && (rc = gitrepo_find(s->repo, ref, id)) != 0)
		return rc;
	if (!s->fresh && fetch(s, all, true) < 0)
		return -1;
	s->fresh = true;
	if (str_starts(ref, "pr/") && ref[3] &&
	    strspn(ref + 3, "0123456789") == strlen(ref + 3))
		spec = mem_printf(
		    "+refs/pull/%s/head:refs/pull/%s/head", ref + 3, ref + 3);
	one[0] = spec;
	rc = spec && fetch(s, one, false) < 0 ? -1 : 0;
	free(spec);
	return rc < 0 ? -1 : gitrepo_find(s->repo, ref, id);
}

/* What stands before the first '=' is a label. */
static const char *
split(struct goal *t, const char *text)
{
	const char *eq = strchr(text, '=');

	if (eq && eq > text)
		t->label = mem_strn(text, (size_t)(eq - text));
	return eq && eq > text ? eq + 1 : text;
}

static void
failed(struct goal *t)
{
	t->error = mem_str(err_last());
	t->repo = t->files = NULL;
}

void
goal_ref(struct goal *t, struct origin *s, const char *text)
{
	char id[GITREPO_ID];
	int rc;

	*t = (struct goal){0};
	t->ref = mem_str(split(t, text));
	t->repository = mem_str(s->repository);
	rc = find(s, t->ref, id);
	if (rc == 0)
		rc = err_fail("there is no branch, tag, commit or other "
			      "revision '%s' in '%s'",
		    t->ref, s->repository ? s->repository : "?");
	if (rc < 0 || gitrepo_commit(s->repo, id, &t->commit) < 0) {
		failed(t);
		return;
	}
	t->repo = t->files = s->repo;
	memcpy(t->tree, t->commit.tree, GITREPO_ID);
}

void
goal_worktree(struct goal *t, const struct cache *c, const char *text)
{
	char id[GITREPO_ID], *path;
	struct gitrepo *store = NULL, *r;
	const char *dir;
	int rc = -1;

	*t = (struct goal){.worktree = true};
	dir = split(t, text);
	t->ref = mem_str("HEAD");
	r = gitrepo_open(dir);
	if (r && (rc = gitrepo_find(r, "HEAD", id)) == 0)
		rc = err_fail("'%s' has no commit yet", dir);
	if (rc < 0 || gitrepo_commit(r, id, &t->commit) < 0)
		goto out;
	rc = -1;
	path = cache_path(c, "git", "worktrees.git");
	store = gitrepo_own(path);
	free(path);
	if (!store || gitrepo_snapshot(r, store, t->tree) < 0)
		goto out;
	t->dirty = strcmp(t->tree, t->commit.tree) != 0;
	t->repository = name_of(r);
	t->repo = r;
	t->files = store;
	if (t->dirty && !t->label)
		t->label = mem_printf("%.10s+dirty", t->commit.id);
	rc = 0;
out:
	if (rc == 0)
		return;
	failed(t);
	gitrepo_free(r);
	gitrepo_free(store);
}

void
goal_free(struct goal *t)
{
	if (t->worktree) {
		gitrepo_free(t->repo);
		gitrepo_free(t->files);
	}
	free(t->label);
	free(t->ref);
	free(t->repository);
	free(t->error);
	gitrepo_commit_free(&t->commit);
}

struct json *
goal_subject(const struct goal *t, const struct flags *f)
{
	struct json *j = json_object();

	if (t->label)
		json_set_str(j, "label", t->label);
	json_set_str(j, "ref", t->ref);
	if (t->repository)
		json_set_str(j, "repository", t->repository);
	if (!*t->commit.id)
		return j;
	json_set_str(j, "commit", t->commit.id);
	json_set_str(j, "time", t->commit.time);
	if (t->worktree) {
		json_set_bool(j, "dirty", t->dirty);
		json_set_str(j, "tree", t->tree);
	}
	json_set(j, "build", flags_json(f));
	return j;
}
