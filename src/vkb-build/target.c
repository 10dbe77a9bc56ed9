#include "target.h"
#include "cache.h"
#include "err.h"
#include "folder.h"
#include "gitrepo.h"
#include "halt.h"
#include "hash.h"
#include "json.h"
#include "mem.h"
#include "redact.h"
#include "str.h"
#include "tarball.h"

#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* The git repositories in the cache: mirrors, work trees, archives. */

#define STOP_MS 50 /* interval of checks whether to stop */

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

/*
 * Opens or creates the repository of that name, and removes unfinished packs
 * and stale locks. Returns NULL after reporting an error. Hold the cache's lock
 * of the same name to write refs or packs.
 */
static struct gitrepo *
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

/* --- fetching */

/* The child: writes its error message to the parent. */
_Noreturn static void
run_child(struct gitrepo *r, const char *url, const char *const *specs,
    bool all, int out)
{
	int null = open("/dev/null", O_RDWR), rc;
	const char *why;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (null >= 0)
		dup2(null, STDERR_FILENO);
	rc = gitrepo_fetch(r, url, specs, all);
	why = err_last();
	if (rc < 0 && write(out, why, strlen(why)) < 0)
		_exit(2);
	_exit(rc < 0 ? 1 : 0);
}

/* Reads until the child ends. Returns 0, or -1 if the program should stop. */
static int
read_from_child(int fd, struct str *message, struct halt *halt)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};
	char buf[4096];
	ssize_t n;

	for (;;) {
		if (halt_reason(halt, NULL))
			return -1;
		if (poll(&p, 1, STOP_MS) <= 0)
			continue;
		n = read(fd, buf, sizeof buf);
		if (n > 0)
			str_addn(message, buf, (size_t)n);
		else if (n == 0 || errno != EINTR)
			return 0;
	}
}

/*
 * Fetches in a child process, which can be stopped at any time; store_open
 * removes its leftovers. Returns 0, or -1 after reporting the error.
 */
static int
fetch_in_child(struct gitrepo *r, const char *url, const char *const *specs,
    bool all, struct halt *halt)
{
	struct str message = {0};
	int fds[2], status = 0, rc;
	pid_t pid;

	if (pipe2(fds, O_CLOEXEC) < 0)
		return err_fail_sys("cannot make a pipe");
	pid = fork();
	if (pid < 0) {
		close(fds[0]);
		close(fds[1]);
		return err_fail_sys("cannot start a process");
	}
	if (pid == 0)
		run_child(r, url, specs, all, fds[1]);
	close(fds[1]);
	rc = read_from_child(fds[0], &message, halt);
	close(fds[0]);
	if (rc < 0)
		kill(pid, SIGKILL);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (rc < 0)
		err_fail("cannot fetch from '%s': stopped", url);
	else if (message.len)
		rc = err_fail("%s", message.s);
	else if (status)
		rc = err_fail(
		    "cannot fetch from '%s': the process was killed", url);
	str_free(&message);
	return rc;
}

/* Fetches as gitrepo_fetch into the repository of that name, under its lock,
 * until the program should stop. Returns 0, or -1 after reporting the error. */
static int
store_fetch(const struct cache *c, const char *name, struct gitrepo *r,
    const char *url, const char *const *specs, bool all)
{
	int fd = cache_wait(c, name), rc;

	if (fd < 0)
		return -1;
	rc = fetch_in_child(r, url, specs, all, c->halt);
	cache_unlock(fd);
	return rc;
}

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
is_commit_id(const char *ref)
{
	size_t n = strlen(ref);

	return n >= 7 && n < GITREPO_ID &&
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
	if (is_commit_id(ref) && (rc = gitrepo_find(s->repo, ref, id)) != 0 &&
	    (rc < 0 || strncasecmp(id, ref, strlen(ref)) == 0))
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

int
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
	if (rc < 0 || gitrepo_commit(s->repo, id, &t->commit) < 0)
		return -1;
	t->repo = t->files = s->repo;
	memcpy(t->tree, t->commit.tree, GITREPO_ID);
	return 0;
}

int
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
	t->own = store_open(c, "worktrees.git");
	if (!t->own || gitrepo_snapshot(r, t->own, t->tree) < 0)
		goto out;
	t->dirty = strcmp(t->tree, t->commit.tree) != 0;
	t->repository = get_repository_name(r);
	t->repo = r;
	t->files = t->own;
	if (t->dirty && !t->label)
		t->label = mem_printf("%.10s+dirty", t->commit.id);
	return 0;
out:
	gitrepo_free(r);
	return -1;
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

int
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
	return rc;
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
