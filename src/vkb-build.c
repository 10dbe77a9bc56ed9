/*
 * vkb-build: builds commits and writes build records. Each commit is built
 * once, in a tree of the cache, and kept. Exit status 2: a build failed.
 */
#include "cgroup.h"
#include "clock.h"
#include "err.h"
#include "folder.h"
#include "gitrepo.h"
#include "halt.h"
#include "hash.h"
#include "json.h"
#include "jsonl.h"
#include "mem.h"
#include "num.h"
#include "opt.h"
#include "proc.h"
#include "record.h"
#include "redact.h"
#include "runas.h"
#include "sink.h"
#include "statusline.h"
#include "str.h"
#include "tarball.h"
#include "tempfile.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/*
 * The folder of finished builds and the trees they are built in.
 *
 *   builds/KEY/        a finished build, renamed into place
 *   trees/FLAGS.N/     a tree with its objects, for the next build
 *   trees/FLAGS.N.tree the git tree it was last built from, if that succeeded
 *   trees/FLAGS.N.tmp/ temporary files of the build in it
 *   git/               mirrors, and snapshots of work trees
 *   logs/, locks/, ccache/, ccache.USER/
 *
 * With a user for code under test (runas.h), trees/FLAGS.N/, its tmp folder and
 * ccache.USER/ belong to that user, and everything else to us.
 */

struct cache {
	char *dir;         /* absolute */
	char *ccache;      /* the folder of ccache: each user has one */
	struct halt *halt; /* borrowed; ends the wait for a lock */
};

enum { CACHE_BUSY = -2 };

#define WAIT_MS 50

static const char *const folder_names[] = {
    "builds", "trees", "git", "logs", "locks", NULL};

/* Returns the default folder (caller frees), or NULL if unknown. */
static char *
find_default_dir(void)
{
	const char *base = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");

	if (base && *base == '/')
		return mem_printf("%s/vkb", base);
	return home && *home ? mem_printf("%s/.cache/vkb", home) : NULL;
}

/*
 * Opens the cache. 'wanted' NULL: vkb in the user's cache folder. Returns 0, or
 * -1 after reporting the error.
 */
static int
cache_open(struct cache *c, const char *wanted, struct halt *halt)
{
	char *dir = wanted ? mem_str(wanted) : find_default_dir(), *path;
	int rc = 0;

	*c = (struct cache){.halt = halt};
	if (!dir || !*dir) {
		free(dir);
		return err_fail("no folder for the cache: HOME is not set; "
				"give one with '--cache'");
	}
	if (runas_open() < 0 || folder_make(dir) < 0)
		rc = -1;
	else if (!(c->dir = realpath(dir, NULL)))
		rc = err_fail_sys("cannot use '%s'", dir);
	for (size_t i = 0; rc == 0 && folder_names[i]; i++) {
		path = mem_printf("%s/%s", c->dir, folder_names[i]);
		rc = folder_make(path);
		free(path);
	}
	if (rc == 0) {
		c->ccache = mem_printf("%s/ccache%s%s", c->dir,
		    runas_name() ? "." : "", runas_name() ? runas_name() : "");
		if (runas_name())
			rc = runas_check_path(c->dir) < 0 ||
				folder_make(c->ccache) < 0
			    ? -1
			    : runas_give(c->ccache);
	}
	free(dir);
	return rc;
}

static void
cache_close(struct cache *c)
{
	free(c->dir);
	free(c->ccache);
}

/* Returns DIR/KIND/NAME; the caller frees it. */
static char *
cache_path(const struct cache *c, const char *kind, const char *name)
{
	return mem_printf("%s/%s/%s", c->dir, kind, name);
}

/*
 * Returns a descriptor that holds the lock, as do child processes until
 * cache_unlock; CACHE_BUSY if another has it; -1 after reporting an error.
 */
static int
cache_lock(const struct cache *c, const char *name)
{
	char *path = cache_path(c, "locks", name);
	int fd = open(path, O_RDWR | O_CREAT, 0666), rc;

	if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0)
		rc = fd;
	else if (fd >= 0 && errno == EWOULDBLOCK)
		rc = CACHE_BUSY;
	else
		rc = err_fail_sys("cannot lock '%s'", path);
	if (rc < 0 && fd >= 0)
		close(fd);
	free(path);
	return rc;
}

static void
cache_unlock(int fd)
{
	if (fd < 0)
		return;
	flock(fd, LOCK_UN); /* also for children that inherited it */
	close(fd);
}

/* Same, but waits. Returns -1 after reporting an error, or if stopped. */
static int
cache_wait(const struct cache *c, const char *name)
{
	int fd;

	while ((fd = cache_lock(c, name)) == CACHE_BUSY) {
		if (halt_reason(c->halt, NULL))
			return err_fail("stopped");
		poll(NULL, 0, WAIT_MS);
	}
	return fd;
}

/* --- pruning */

struct cache_entry {
	char *path, *lock;
	double used; /* seconds since 1970 */
	unsigned long long bytes;
};

struct cache_entries {
	struct cache_entry *v;
	size_t n, cap;
};

/* Logs, tree files, tmp folders and what is being made share the lock of their
 * build, tree or repository. */
static char *
format_lock_name(const char *name)
{
	static const char *const ends[] = {
	    ".tree", ".tmp", ".log", ".new", NULL};

	for (size_t i = 0; ends[i]; i++)
		if (str_ends(name, ends[i]))
			return mem_strn(name, strlen(name) - strlen(ends[i]));
	return mem_str(name);
}

static void
list_things(struct cache_entries *t, const struct cache *c, const char *kind)
{
	char *dir = cache_path(c, kind, ""), *path, *mark;
	DIR *d = opendir(dir);
	struct dirent *e;
	struct stat st;
	bool there;

	while (d && (e = readdir(d))) {
		if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
			continue;
		path = cache_path(c, kind, e->d_name);
		mark = mem_printf("%s/build.json", path);
		there = stat(mark, &st) == 0 || lstat(path, &st) == 0;
		free(mark);
		if (!there) {
			free(path);
			continue;
		}
		*MEM_ADD(t->v, t->n, t->cap) =
		    (struct cache_entry){.path = path,
			.lock = format_lock_name(e->d_name),
			.used = (double)st.st_mtim.tv_sec +
			    (double)st.st_mtim.tv_nsec * 1e-9,
			.bytes = folder_bytes(path)};
	}
	if (d)
		closedir(d);
	free(dir);
}

static int
compare_by_use(const void *a, const void *b)
{
	const struct cache_entry *x = a, *y = b;

	if (x->used < y->used || x->used > y->used)
		return x->used < y->used ? -1 : 1;
	return strcmp(x->path, y->path);
}

/* Returns 1 if removed, 0 if in use, -1 after reporting an error. */
static int
remove_thing(const struct cache *c, const struct cache_entry *t)
{
	int fd = cache_lock(c, t->lock), rc = 1;

	if (fd < 0)
		return fd == CACHE_BUSY ? 0 : -1;
	if (folder_remove(t->path) < 0)
		rc = err_fail_sys("cannot remove '%s'", t->path);
	cache_unlock(fd);
	return rc;
}

static int
parse_limit(const char *s, double *age, long long *size)
{
	size_t n = strlen(s);

	*age = -1;
	*size = -1;
	if (n && strchr("kmg", s[n - 1]) && num_size(s, size) == 0)
		return 0;
	return n && strchr("dh", s[n - 1]) && num_duration(s, age) == 0 &&
		*age >= 0
	    ? 0
	    : -1;
}

/*
 * Removes entries unused for an age (30d, 12h), or the longest unused until the
 * rest fits into a size (500m, 20g). Returns 0, or -1 after reporting an error.
 */
static int
cache_prune(const struct cache *c, const char *limit)
{
	struct cache_entries t = {0};
	unsigned long long sum = 0;
	struct timespec now;
	long long size;
	double age;
	int rc = 0, k;

	if (parse_limit(limit, &age, &size) < 0)
		return err_fail("option '--prune': '%s' is neither an age like "
				"30d or 12h nor a size like 500m or 20g",
		    limit);
	clock_gettime(CLOCK_REALTIME, &now);
	for (size_t i = 0; i < 4; i++) /* all but the locks */
		list_things(&t, c, folder_names[i]);
	qsort(t.v, t.n, sizeof *t.v, compare_by_use);
	for (size_t i = 0; i < t.n; i++)
		sum += t.v[i].bytes;
	for (size_t i = 0; i < t.n; i++) {
		if (age >= 0 ? (double)now.tv_sec - t.v[i].used < age
			     : sum <= (unsigned long long)size)
			break;
		k = remove_thing(c, &t.v[i]);
		if (k > 0)
			sum -= t.v[i].bytes;
		rc = k < 0 ? -1 : rc;
	}
	for (size_t i = 0; i < t.n; i++) {
		free(t.v[i].path);
		free(t.v[i].lock);
	}
	free(t.v);
	return rc;
}

/* How to build: make variables, compiler, libraries. */

struct flags {
	char **make; /* NAME=VALUE, NULL-terminated */
	size_t n;
	const char *allocator; /* requested, or NULL */
	char *compiler;        /* first line of its --version */
	char *identity;        /* all of this and the libraries, as text */
};

struct flags_wanted {
	bool tls, debug_symbols, frame_pointers;
	const char *cflags, *allocator; /* or NULL */
	struct opt_list make_args;      /* NAME=VALUE */
};

#define FLAGS_KEY 65

#define ANSWER_MS 20000

/* Prints the compiler's version and its library search path. */
static const char compiler_query[] =
    "$0 --version </dev/null || exit; echo --; $0 -print-search-dirs";

/* Libraries that a server may link with. */
static const char *const library_names[] = {"libc.so.6", "libm.so.6",
    "libssl.so", "libcrypto.so", "libsystemd.so", "libtcmalloc.so",
    "libtcmalloc_minimal.so", "libjemalloc.so", "libgcc.a"};
#define LINKED (sizeof library_names / sizeof *library_names)

static void
add_variable(struct flags *f, char *text)
{
	f->make = mem_resize(f->make, f->n + 2, sizeof *f->make);
	f->make[f->n++] = text;
	f->make[f->n] = NULL;
}

static bool
is_variable(const char *s)
{
	size_t n = strspn(s,
	    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_");

	return n && s[n] == '=';
}

/* Returns the compiler (borrowed), or NULL after reporting an error. */
static const char *
add_variables(struct flags *f, const struct flags_wanted *w)
{
	const char *cc = NULL;
	struct str c = {0};
	char *ccache;

	if (w->cflags)
		str_add(&c, w->cflags);
	if (w->debug_symbols)
		str_printf(&c, "%s-g -ggdb", c.len ? " " : "");
	if (w->frame_pointers)
		str_printf(&c, "%s-fno-omit-frame-pointer", c.len ? " " : "");
	if (w->tls)
		add_variable(f, mem_str("BUILD_TLS=yes"));
	if (w->allocator)
		add_variable(f, mem_printf("MALLOC=%s", w->allocator));
	if (c.len) { /* before 8.0 only the second name exists */
		add_variable(f, mem_printf("SERVER_CFLAGS=%s", c.s));
		add_variable(f, mem_printf("REDIS_CFLAGS=%s", c.s));
	}
	str_free(&c);
	for (size_t i = 0; i < w->make_args.n; i++) {
		const char *arg = w->make_args.v[i];

		if (!is_variable(arg)) {
			err_fail(
			    "option '--make-arg': '%s' is not NAME=VALUE", arg);
			return NULL;
		}
		if (str_starts(arg, "CC="))
			cc = arg + 3;
		add_variable(f, mem_str(arg));
	}
	if (cc)
		return cc;
	ccache = proc_find("ccache", getenv("PATH"));
	if (ccache)
		add_variable(f, mem_str("CC=ccache cc"));
	free(ccache);
	return "cc";
}

/* Returns the first such file in the folders (caller frees), or NULL. */
static char *
find_library(const char *dirs, const char *name)
{
	char *file, *real = NULL;
	size_t n;

	for (; *dirs && *dirs != '\n' && !real; dirs += n + (dirs[n] == ':')) {
		n = strcspn(dirs, ":\n");
		file = mem_printf("%.*s/%s", (int)n, dirs, name);
		real = realpath(file, NULL);
		free(file);
	}
	return real;
}

/* Appends "PATH SIZE MTIME" of each library that exists. */
static void
append_libraries(struct str *out, const char *answer)
{
	static const char where[] = "libraries: =";
	const char *dirs = strstr(answer, where);
	struct stat st;
	char *file;

	for (size_t i = 0; dirs && i < LINKED; i++) {
		file = find_library(dirs + strlen(where), library_names[i]);
		if (file && stat(file, &st) == 0)
			str_printf(out, "%s %lld %lld.%09ld\n", file,
			    (long long)st.st_size, (long long)st.st_mtim.tv_sec,
			    st.st_mtim.tv_nsec);
		free(file);
	}
}

/* Returns 0, or -1 after reporting the error; then, too, call flags_free. */
static int
flags_init(struct flags *f, const struct flags_wanted *w)
{
	const char *argv[] = {"/bin/sh", "-c", compiler_query, NULL, NULL};
	struct str answer = {0}, id = {0};
	struct utsname un;
	char *libs;
	int status, rc = -1;

	*f = (struct flags){.allocator = w->allocator};
	if (!(argv[3] = add_variables(f, w)) ||
	    proc_read(argv, false, ANSWER_MS, &answer, &status) < 0)
		goto out;
	libs = answer.len ? strstr(answer.s, "\n--\n") : NULL;
	if (status || !libs) {
		err_fail("the compiler '%s' does not work: %s", argv[3],
		    answer.len ? answer.s : "it prints nothing");
		goto out;
	}
	*libs = '\0';
	f->compiler = mem_strn(answer.s, strcspn(answer.s, "\n"));
	uname(&un);
	str_printf(&id, "%s\n%s\n", un.machine, answer.s);
	append_libraries(&id, libs + 4);
	for (size_t i = 0; i < f->n; i++)
		str_printf(&id, "%s\n", f->make[i]);
	f->identity = str_take(&id);
	rc = 0;
out:
	str_free(&answer);
	str_free(&id);
	return rc;
}

static void
flags_free(struct flags *f)
{
	for (size_t i = 0; i < f->n; i++)
		free(f->make[i]);
	free(f->make);
	free(f->compiler);
	free(f->identity);
}

/* Returns the build section of a subject; the caller frees it. */
static struct json *
flags_describe(const struct flags *f)
{
	struct json *j = json_object(), *a = json_array();

	for (size_t i = 0; i < f->n; i++)
		if (!str_starts(f->make[i], "CC=ccache ") &&
		    !str_starts(f->make[i], "REDIS_CFLAGS="))
			json_push(a, json_string(f->make[i]));
	json_set_str(j, "compiler", f->compiler);
	json_set(j, "make", a);
	return j;
}

/* Writes the SHA-256 of texts, up to NULL. */
static void
flags_hash(char key[FLAGS_KEY], const char *const *texts)
{
	struct str all = {0};

	for (; *texts; texts++)
		str_printf(&all, "%zu\n%s", strlen(*texts), *texts);
	hash_hex(all.s, all.len, key);
	str_free(&all);
}

/* What to build: a commit, a work tree as it is, or a release archive. */

#define TARGET_VALKEY "https://github.com/valkey-io/valkey.git"

struct build_target {
	char *label, *ref;     /* label: or NULL */
	struct gitrepo *repo;  /* has the commit */
	struct gitrepo *files; /* has the tree */
	struct gitrepo *own; /* one of the two, owned by this target; or NULL */
	char *repository;    /* for people */
	struct gitrepo_commit commit; /* without id for an archive */
	bool worktree, dirty;
	char archive[FLAGS_KEY]; /* SHA-256 of the archive, or "" */
	char tree[GITREPO_ID];
};

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

static void
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

/* The source of commits: a local repository, or a mirror of a remote one. */
static struct origin *
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

static bool
is_commit_id(const char *ref)
{
	size_t n = strlen(ref);

	return n >= 7 && n < GITREPO_ID &&
	    strspn(ref, "0123456789abcdefABCDEF") == n;
}

/*
 * Looks up a revision as gitrepo_find. In a mirror, known ids need no fetch;
 * other names are fetched first, those that only look like an id, too.
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
	    (rc < 0 || strlen(ref) == GITREPO_ID - 1 ||
		strncasecmp(id, ref, strlen(ref)) == 0))
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

/* 'text' is [LABEL=]REF. These return 0, or -1 after reporting an error; then,
 * too, call target_free. */
static int
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

/* 'text' is [LABEL=]DIR. */
static int
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

/* 'text' is [LABEL=]FILE. */
static int
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

static void
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

/* Returns the subject for records, of a target and the server that it is, or
 * that a module of it is built for; NULL: one that is not built. The caller
 * frees it. */
static struct json *
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

/*
 * How to build something from sources; and the step of valkey-server,
 * valkey-cli and valkey-benchmark.
 */

#define BUILDSTEP_INCLUDE "include" /* folder of valkeymodule.h in a build */

struct buildstep {
	const struct build_target *target; /* the sources */
	char key[65];                      /* of the finished build */
	char kind[65];     /* of trees whose objects can be reused: those of
			    * the same user, too */
	bool fresh;        /* always from an empty tree */
	const char **argv; /* command, run in the tree; NULL-terminated */
	char **env;        /* more NAME=VALUE, NULL-terminated; or NULL */
	/* Copies artifacts from 'tree' to 'dir', and describes them in the
	 * note. Returns 0, or -1 after reporting the error. */
	int (*collect)(const struct buildstep *, const char *tree,
	    const char *dir, struct json *note);
	const void *arg; /* for collect */
};

#define ANSWER_MS 20000
#define FILES "files" /* of a note: {KEY: {name, bytes}} */

static const char *const programs[] = {
    "valkey-server", "valkey-cli", "valkey-benchmark"};
static const char *const keys[] = {"server", "cli", "benchmark"};
#define PROGRAMS (sizeof programs / sizeof *programs)

/* Headers to compile modules with; before 8.0 only the second exists. */
static const char *const headers[] = {"valkeymodule.h", "redismodule.h"};
#define HEADERS (sizeof headers / sizeof *headers)

/*
 * make may use another allocator than an unknown or missing one. The server
 * reports "malloc=jemalloc-5.3.0"; for tcmalloc_minimal "tcmalloc-2.10".
 */
static int
verify_allocator(const char *wanted, const char *output)
{
	const char *s = strstr(output, " malloc=");
	size_t n = wanted ? strcspn(wanted, "_") : 0;

	if (!wanted || !s || strncmp(s + 8, wanted, n) == 0)
		return 0;
	return err_fail("the server that was built has the allocator '%.*s', "
			"not '%s'",
	    (int)strcspn(s + 8, " \n"), s + 8, wanted);
}

/*
 * Runs the server and notes its version and the commit that it reports, such as
 * "sha=1f9c0ab2:0" (zeros: unknown). Returns 0, or -1 after reporting an error.
 */
static int
note_version(const char *server, const char *commit, const char *allocator,
    struct json *note)
{
	const char *argv[] = {server, "--version", NULL};
	struct str out = {0};
	char *text = NULL;
	const char *s;
	int status, rc = -1;
	size_t n;

	if (proc_read(argv, true, ANSWER_MS, &out, &status) < 0)
		goto out;
	str_add(&out, "");
	if (status || !out.len) {
		err_fail("the server '%s' does not run: %s", server,
		    out.len ? out.s : "it prints nothing");
		goto out;
	}
	if ((s = strstr(out.s, " v="))) {
		text = mem_strn(s + 3, strcspn(s + 3, " \n"));
		json_set_str(note, "version", text);
		free(text);
		text = NULL;
	}
	if (verify_allocator(allocator, out.s) < 0)
		goto out;
	s = strstr(out.s, " sha=");
	n = s ? strspn(s + 5, "0123456789abcdef") : 0;
	rc = 0;
	if (!n || strspn(s + 5, "0") >= n)
		goto out;
	text = mem_strn(s + 5, n);
	json_set_str(note, "git_sha", text);
	if (*commit && !str_starts(commit, text))
		rc = err_fail("the server that was built reports the commit "
			      "'%s', not '%.10s'",
		    text, commit);
out:
	free(text);
	str_free(&out);
	return rc;
}

/*
 * Notes the hash of the program and what it says of itself, which must be this
 * commit, unless that is "", and this allocator, unless that is NULL. Returns
 * 0, or -1 after reporting the error.
 */
static int
describe_server(const char *server, const char *commit, const char *allocator,
    struct json *note)
{
	char hex[HASH_HEX];

	if (hash_file(HASH_SHA256, server, hex) < 0)
		return err_fail_sys("cannot read '%s'", server);
	json_set_str(note, "binary_sha256", hex);
	return note_version(server, commit, allocator, note);
}

/* Returns 0, 1 if 'from' does not exist, or -1 after reporting an error. */
static int
copy_file(const char *from, const char *to, long long *bytes)
{
	int in, out, rc = 0;

	runas_begin_files(false);
	in = open(from, O_RDONLY | O_CLOEXEC);
	runas_end_files();
	if (in < 0)
		return errno == ENOENT ? 1
				       : err_fail_sys("cannot read '%s'", from);
	out = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0777);
	*bytes = out < 0 ? -1 : sink_copy(in, out);
	if (*bytes < 0 || fsync(out) < 0)
		rc = err_fail_sys("cannot write '%s'", to);
	if (out >= 0 && close(out) < 0 && rc == 0)
		rc = err_fail_sys("cannot write '%s'", to);
	close(in);
	return rc;
}

/*
 * Copies 'from' to NAME in 'dir' and lists it under 'key' (NULL: unlisted).
 * Returns 0, 1 if 'from' does not exist, or -1 after reporting an error.
 */
static int
put_file(const char *dir, const char *name, const char *from, struct json *note,
    const char *key)
{
	char *to = mem_printf("%s/%s", dir, name);
	struct json *files = json_get(note, FILES), *file;
	long long bytes = 0;
	int rc = copy_file(from, to, &bytes);

	free(to);
	if (rc != 0 || !key)
		return rc;
	if (!files) {
		files = json_object();
		json_set(note, FILES, files);
	}
	file = json_object();
	json_set_str(file, "name", name);
	json_set_num(file, "bytes", (double)bytes);
	json_set(files, key, file);
	return 0;
}

static int
copy_headers(const char *tree, const char *dir)
{
	char *include = mem_printf("%s/" BUILDSTEP_INCLUDE, dir), *from;
	int rc = folder_make(include);

	for (size_t i = 0; rc >= 0 && i < HEADERS; i++) {
		from = mem_printf("%s/src/%s", tree, headers[i]);
		rc = put_file(include, headers[i], from, NULL, NULL);
		free(from);
	}
	free(include);
	return rc < 0 ? -1 : 0;
}

static int
collect_programs(const struct buildstep *r, const char *tree, const char *dir,
    struct json *note)
{
	char *server = mem_printf("%s/%s", dir, programs[0]), *from;
	const struct flags *f = r->arg;
	int rc = 0;

	for (size_t i = 0; rc >= 0 && i < PROGRAMS; i++) {
		from = mem_printf("%s/src/%s", tree, programs[i]);
		rc = put_file(dir, programs[i], from, note, keys[i]);
		if (rc == 1 && i == 0)
			rc = err_fail("make succeeded but made no '%s'", from);
		free(from);
	}
	rc = rc < 0 || copy_headers(tree, dir) < 0
	    ? -1
	    : describe_server(server, r->target->commit.id, f->allocator, note);
	free(server);
	return rc;
}

/* Makes the step of the server; free with free_step. */
static void
make_server_step(
    struct buildstep *r, const struct build_target *g, const struct flags *f)
{
	const char *const texts[] = {f->identity, g->commit.id, g->tree, NULL};
	const char *const compatible[] = {f->identity, runas_name(), NULL};
	size_t n = 0;

	*r = (struct buildstep){.target = g, .collect = collect_programs};
	r->arg = f;
	r->argv = mem_array(f->n + PROGRAMS + 4, sizeof *r->argv);
	r->argv[n++] = "make";
	r->argv[n++] = "-C";
	r->argv[n++] = "src";
	for (size_t i = 0; i < f->n; i++)
		r->argv[n++] = f->make[i];
	for (size_t i = 0; i < PROGRAMS; i++)
		r->argv[n++] = programs[i];
	flags_hash(r->key, texts);
	flags_hash(r->kind, compatible);
}

/* Frees what the step owns. */
static void
free_step(struct buildstep *r)
{
	for (size_t i = 0; r->env && r->env[i]; i++)
		free(r->env[i]);
	free(r->env);
	free(r->argv);
	*r = (struct buildstep){0};
}

/* Writes the note, which a build must have. Returns 0; -1: error reported. */
static int
write_note(const char *dir, const struct json *note)
{
	char *path = mem_printf("%s/build.json", dir);
	int rc = jsonfile_write(path, note);

	free(path);
	return rc;
}

static int
find_files(const char *dir, const struct json *files, struct json *rec)
{
	const char *name;
	struct stat st;
	char *path;
	int rc = 1;

	for (const struct json *f = json_first(files); f && rc;
	     f = json_next(f)) {
		name = json_get_str(f, "name");
		path = mem_printf("%s/%s", dir, name ? name : "");
		rc = stat(path, &st) == 0 && S_ISREG(st.st_mode) &&
		    (double)st.st_size == json_get_num(f, "bytes", -1);
		if (rc)
			json_set_str(rec, json_key(f), path);
		free(path);
	}
	return rc;
}

/*
 * Copies the note in 'dir' and the paths of the files to 'rec', and marks the
 * build as used. Returns 1, or 0 if there is no note or a file has changed.
 */
static int
find_step(const char *dir, struct json *rec)
{
	char *path = mem_printf("%s/build.json", dir);
	struct json *note = NULL;
	int rc = 0;

	if (access(path, R_OK) == 0)
		note = jsonfile_read(path);
	if (note)
		utimensat(AT_FDCWD, path, NULL, 0); /* for --prune */
	free(path);
	if (json_first(json_get(note, FILES)))
		rc = find_files(dir, json_get(note, FILES), rec);
	for (const struct json *j = json_first(note); j && rc; j = json_next(j))
		if (strcmp(json_key(j), FILES) != 0)
			json_set(rec, json_key(j), json_dup(j));
	json_free(note);
	return rc;
}

/* One build: from a source tree to a folder of finished programs. */

/* Shared by all builds of this program. */
struct build_context {
	const struct cache *cache;
	int jobs;
	int tokens[2]; /* GNU make's job server: a pipe of free jobs */
	int free_jobs; /* its end to read, non-blocking */
};

#define BUILD_JOBS_MAX 1024

/* Trees to build in; each keeps its objects for the next build. */
struct tree {
	char *dir, *note; /* note: a file that names the git tree below */
	char *tmp; /* for temporary files, which killed compilers leave */
	char built[GITREPO_ID]; /* last built git tree, or "": no objects */
	int lock;
};

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

/* Unlocks it; {0} does nothing. */
static void
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

/*
 * Locks an unused tree: the one with the fewest changes to 'id' that make can
 * follow, else an empty one. Returns 0, or -1 after reporting the error.
 */
static int
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

/* Checks out 'id'; 'empty': into an empty tree. Returns 0, -1 on error. */
static int
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

/* Records that 'id' was built. Returns 0, or -1 after reporting the error. */
static int
tree_set_built(struct tree *t, const char *id)
{
	char line[GITREPO_ID + 1];
	int n = snprintf(line, sizeof line, "%s\n", id);

	return tempfile_write(t->note, line, (size_t)n);
}

#define GRACE_MS 3000
#define TAIL_LINES 20
#define TAIL_BYTES 4000
#define LOGS_KEPT 5 /* of builds that failed */

struct build {
	struct build_context *shop;
	const struct buildstep *step;
	struct tree tree;
	int lock;
	bool incremental; /* continues with the objects of another commit */
	struct proc *make;
	char *log, *error;
	int logfd; /* locks the log; -1: there is none */
	int64_t began;
};

static int
keep_build_error(struct build *b)
{
	free(b->error);
	b->error = mem_str(err_last());
	return -1;
}

/* --- jobs */

/* Returns a job: make holds one job without reading it. Returns 0, or -1 after
 * reporting the error. */
static int
release_job(struct build_context *w)
{
	return write(w->tokens[1], "+", 1) == 1
	    ? 0
	    : err_fail_sys("cannot write to a pipe");
}

/* Makes the pipe of jobs; 0: one per CPU. Returns 0, or -1 after reporting the
 * error. */
static int
open_jobs(struct build_context *w, long long jobs)
{
	char again[40];

	w->jobs = jobs ? (int)jobs : cgroup_count_cpus("");
	if (w->jobs > BUILD_JOBS_MAX)
		w->jobs = BUILD_JOBS_MAX;
	if (pipe(w->tokens) < 0)
		return err_fail_sys("cannot make a pipe");
	snprintf(again, sizeof again, "/proc/self/fd/%d", w->tokens[0]);
	w->free_jobs = open(again, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (w->free_jobs < 0)
		return err_fail_sys("cannot open '%s'", again);
	for (int i = 0; i < w->jobs; i++)
		if (release_job(w) < 0)
			return -1;
	return 0;
}

/* Takes a job from the pipe, if one is free. */
static bool
take_job(struct build_context *w)
{
	char token;

	return read(w->free_jobs, &token, 1) == 1;
}

/* --- make */

static void
pass_variable(struct str *env, const char *name)
{
	const char *v = getenv(name);

	if (v)
		str_printf(env, "%s=%s%c", name, v, '\0');
}

/* rustup keeps its compilers in the user's home; they hold no secrets. */
static void
pass_rustup(struct str *env)
{
	const char *home = getenv("HOME");
	char *dir = mem_printf("%s/.rustup", home ? home : "");

	if (getenv("RUSTUP_HOME"))
		pass_variable(env, "RUSTUP_HOME");
	else if (access(dir, X_OK) == 0)
		str_printf(env, "RUSTUP_HOME=%s%c", dir, '\0');
	free(dir);
}

/*
 * The whole environment of make: what a build needs, nothing private. HOME is
 * an empty folder that is removed with the build, so that builds see neither
 * the user's settings and credentials nor files of other builds.
 */
static void
append_environment(const struct build *b, struct str *env)
{
	static const char fixed[] =
	    "LC_ALL=C\0GIT_CONFIG_GLOBAL=/dev/null\0GIT_CONFIG_NOSYSTEM=1\0"
	    "CCACHE_NOHASHDIR=1\0CCACHE_MAXSIZE=1G";
	const struct build_context *w = b->shop;

	str_addn(env, fixed, sizeof fixed);
	pass_variable(env, "PATH");
	pass_rustup(env);
	str_printf(env, "HOME=%s%c", b->tree.tmp, '\0');
	str_printf(env, "TMPDIR=%s%c", b->tree.tmp, '\0');
	str_printf(env, "SOURCE_DATE_EPOCH=%lld%c",
	    b->step->target->commit.seconds, '\0');
	str_printf(env, "CCACHE_DIR=%s%c", w->cache->ccache, '\0');
	str_printf(env, "CCACHE_BASEDIR=%s%c", b->tree.dir, '\0');
	str_printf(env, "MAKEFLAGS= -j%d --jobserver-auth=%d,%d%c", w->jobs,
	    w->tokens[0], w->tokens[1], '\0');
	for (size_t i = 0; b->step->env && b->step->env[i]; i++)
		str_printf(env, "%s%c", b->step->env[i], '\0');
}

static void
close_log(struct build *b)
{
	if (b->logfd >= 0)
		close(b->logfd);
	b->logfd = -1;
}

/* Starts make in a session of its own: no terminal, and one group to signal. */
static int
start_make(struct build *b)
{
	struct proc_spec spec = {.untrusted = true,
	    .session = true,
	    .death_signal = SIGKILL,
	    .cwd = b->tree.dir,
	    .in = PROC_NULL};
	struct str env = {0};
	const char **argv;
	size_t n = 0, words = 0;

	append_environment(b, &env);
	while (b->step->argv[words])
		words++;
	argv = mem_array(env.len + words + 3, sizeof *argv);
	argv[n++] = "env";
	argv[n++] = "-i";
	for (size_t at = 0; at < env.len; at += strlen(env.s + at) + 1)
		argv[n++] = env.s + at;
	for (size_t i = 0; i < words; i++)
		argv[n++] = b->step->argv[i];
	spec.argv = argv;
	close_log(b);
	b->logfd = open(b->log, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	spec.out = spec.err = b->logfd;
	if (b->logfd >= 0)
		flock(b->logfd, LOCK_SH | LOCK_NB);
	if (spec.out < 0)
		err_fail_sys("cannot write '%s'", b->log);
	else
		b->make = proc_start(&spec);
	free(argv);
	str_free(&env);
	return b->make ? 0 : -1;
}

/* A server is built by "make -C src", whose message would be less clear. */
static int
check_source(const struct build *b)
{
	char *makefile = mem_printf("%s/src/Makefile", b->tree.dir);
	bool found = b->step->fresh || access(makefile, F_OK) == 0;

	free(makefile);
	if (found)
		return 0;
	return err_fail("'%s' has no src/Makefile: it is not the source of "
			"Valkey or of a server that is built as Valkey is",
	    b->step->target->ref);
}

/* Checks out the sources and starts make. */
static int
begin_build(struct build *b, bool empty)
{
	const struct build_target *t = b->step->target;
	int rc = tree_fill(&b->tree, t->files, t->tree, empty);

	rc = rc == 0 ? check_source(b) : rc;
	if (rc == 0) {
		runas_begin_files(true);
		rc = gitrepo_fake_checkout(
		    t->repo, t->commit.id, t->dirty, b->tree.dir);
		runas_end_files();
	}
	return rc < 0 || start_make(b) < 0 ? keep_build_error(b) : 0;
}

/* Adds a finished build (server, cli, ...) to 'rec'. Returns 0 if there is
 * none. */
static int
find_build(
    const struct build_context *w, const struct buildstep *r, struct json *rec)
{
	char *dir = cache_path(w->cache, "builds", r->key);
	char *log = mem_printf("%s/log", dir);
	int rc = find_step(dir, rec);

	if (rc == 1 && !json_get(rec, "log"))
		json_set_str(rec, "log", log);
	free(log);
	free(dir);
	return rc;
}

static void
stop_make(struct build *b)
{
	if (!b->make)
		return;
	if (!proc_wait(b->make, 0, NULL))
		proc_stop(b->make, GRACE_MS);
	proc_free(b->make);
	b->make = NULL;
}

/* Stops the build first. */
static void
free_build(struct build *b)
{
	if (!b)
		return;
	stop_make(b);
	close_log(b);
	tree_release(&b->tree);
	cache_unlock(b->lock);
	free(b->log);
	free(b->error);
	free(b);
}

/*
 * Starts a build. Returns NULL with *busy if another program builds the same;
 * NULL with *error (caller frees) after reporting a failure.
 */
static struct build *
start_build(struct build_context *w, const struct buildstep *r, bool *busy,
    char **error)
{
	int lock = cache_lock(w->cache, r->key);
	char *name = mem_printf("%s.log", r->key);
	struct build *b;

	*busy = lock == CACHE_BUSY;
	*error = NULL;
	if (lock < 0) {
		if (!*busy)
			*error = mem_str(err_last());
		free(name);
		return NULL;
	}
	b = mem_new(sizeof *b);
	*b = (struct build){.shop = w,
	    .step = r,
	    .lock = lock,
	    .logfd = -1,
	    .tree = {.lock = -1},
	    .log = cache_path(w->cache, "logs", name),
	    .began = clock_ns()};
	free(name);
	if (tree_take(&b->tree, w->cache, r->kind, r->target->files,
		r->target->tree) < 0)
		keep_build_error(b);
	else {
		b->incremental = *b->tree.built && !r->fresh;
		if (begin_build(b, r->fresh) == 0)
			return b;
	}
	*error = mem_str(b->error);
	free_build(b);
	return NULL;
}

/* --- the end of a build */

/* Appends the end of the log, with control characters escaped. */
static void
append_log_tail(struct str *out, const char *log)
{
	int fd = open(log, O_RDONLY | O_CLOEXEC), lines = 0;
	char buf[TAIL_BYTES + 1], *s = buf, *save = NULL;
	struct stat st;
	ssize_t n = -1;

	if (fd >= 0 && fstat(fd, &st) == 0)
		n = pread(fd, buf, TAIL_BYTES,
		    st.st_size > TAIL_BYTES ? st.st_size - TAIL_BYTES : 0);
	if (fd >= 0)
		close(fd);
	if (n <= 0)
		return;
	for (ssize_t i = 0; i < n; i++)
		if (!buf[i])
			buf[i] = ' ';
	buf[n] = '\0';
	for (char *p = buf + n; p > buf && lines <= TAIL_LINES; p--)
		if (p[-1] == '\n' && ++lines > TAIL_LINES)
			s = p;
	for (char *l = strtok_r(s, "\n", &save); l;
	     l = strtok_r(NULL, "\n", &save)) {
		str_addc(out, '\n');
		str_visible(out, l);
	}
}

static int
report_make_failure(struct build *b, int status)
{
	char *logs = cache_path(b->shop->cache, "logs", "");
	struct str s = {0};
	char how[80];

	folder_keep_newest(logs, "", LOGS_KEPT);
	free(logs);
	str_printf(&s, "%s %s; the end of '%s':",
	    b->step->fresh ? "the command" : b->step->argv[0],
	    proc_ended(status, how, sizeof how), b->log);
	append_log_tail(&s, b->log);
	free(b->error);
	err_say("%s: %s", b->step->target->ref, s.s);
	b->error = str_take(&s);
	return -1;
}

static int
collect_artifacts(struct build *b, const char *dir)
{
	struct json *note = json_object();
	int rc = -1;

	if (b->step->collect(b->step, b->tree.dir, dir, note) < 0 ||
	    put_file(dir, "log", b->log, NULL, NULL) < 0)
		goto out;
	if (!b->step->fresh) {
		json_set_bool(note, "incremental", b->incremental);
		json_set_num(note, "seconds",
		    (double)((clock_ns() - b->began) / 1000000) / 1000);
	}
	rc = write_note(dir, note);
out:
	json_free(note);
	return rc;
}

/* Renames the finished folder into place: others never see a part of it. */
static int
publish_build(struct build *b)
{
	char *dir = cache_path(b->shop->cache, "builds", b->step->key);
	char *tmp = mem_printf("%s.new", dir);
	int rc = -1;

	if (folder_remove(tmp) < 0)
		err_fail_sys("cannot remove '%s'", tmp);
	else if (folder_make(tmp) == 0 && collect_artifacts(b, tmp) == 0) {
		if (folder_remove(dir) < 0 || rename(tmp, dir) < 0)
			err_fail_sys("cannot put '%s' in place", dir);
		else
			rc = 0;
	}
	if (rc < 0) {
		keep_build_error(b);
		folder_remove(tmp);
	}
	free(tmp);
	free(dir);
	return rc;
}

/* Call when the process of make has ended. Returns 0 while the build runs, 1
 * when it is finished, -1 after reporting a failure (see its error). */
static int
step_build(struct build *b)
{
	int status;

	if (!proc_wait(b->make, -1, &status))
		return 0;
	stop_make(b);
	if (status != 0 || publish_build(b) < 0) {
		if (!b->incremental)
			return status ? report_make_failure(b, status) : -1;
		/* Stale objects may be the cause. */
		b->incremental = false;
		return begin_build(b, true);
	}
	unlink(b->log);
	if (!b->step->fresh &&
	    tree_set_built(&b->tree, b->step->target->tree) < 0)
		return keep_build_error(b);
	return 1;
}

/*
 * A module that is built for servers: that of one work tree for each server, or
 * that of each commit for one server.
 */

/* What the user asks for; NULL: not given. */
struct module_wanted {
	const char *dir;         /* the work tree of the module; or: */
	const char *server;      /* a commit of server_repo, or a program */
	const char *server_repo; /* URL or path; default: Valkey's */
	const char *command;     /* builds the module */
	const char *file;        /* that it makes; default: the only *.so */
};

struct module_build {
	struct module_wanted wanted;
	struct build_target
	    fixed; /* the module or server that is the same for all */
	struct origin *origin; /* of a server */
	struct json *program;  /* members of build records; NULL: it is built */
	char *path;            /* of the program */
};

/* Drops empty values. Returns what is wrong, or NULL. */
static const char *
check_module(struct module_wanted *w)
{
	const char **const texts[] = {
	    &w->dir, &w->server, &w->server_repo, &w->command, &w->file};

	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
		if (*texts[i] && !**texts[i])
			*texts[i] = NULL;
	if (w->dir && w->server)
		return "options '--module-dir' and '--server' exclude each "
		       "other";
	if (w->command && !w->dir && !w->server)
		return "'--module-build' needs '--server', to build commits of "
		       "a module for one server, or '--module-dir', to build "
		       "one module for each server";
	if (w->server_repo && !w->server)
		return "'--server-repo' needs '--server'";
	if (w->command)
		return NULL;
	return w->dir   ? "'--module-dir' needs '--module-build'"
	    : w->server ? "'--server' needs '--module-build'"
	    : w->file   ? "'--module-file' needs '--module-build'"
			: NULL;
}

/* Is the text of '--server' an installed program? It may be NULL. */
static bool
is_program(const char *server)
{
	return server && (*server == '/' || *server == '.');
}

/* Describes an installed server. Its path stays a link if it is one: some
 * programs behave differently under another name. Returns 0, or -1 after
 * reporting the error.
 */
static int
find_program(struct module_build *m)
{
	const char *name = strrchr(m->wanted.server, '/');
	char *dir = name
	    ? mem_strn(m->wanted.server, (size_t)(name + 1 - m->wanted.server))
	    : mem_str(".");
	char *real = realpath(dir, NULL);

	name = name ? name + 1 : m->wanted.server;
	m->path = real ? mem_printf("%s/%s", real[1] ? real : "", name)
		       : mem_str(m->wanted.server);
	free(dir);
	free(real);
	if (access(m->path, X_OK) < 0)
		return err_fail_sys(
		    "cannot run the server '%s'", m->wanted.server);
	m->program = json_object();
	json_set_str(m->program, "server", m->path);
	return describe_server(m->path, "", NULL, m->program);
}

/* Returns 0, or -1 after reporting the error; then, too, call
 * close_module. Hides a login in server_repo. */
static int
open_module(struct module_build *m, const struct module_wanted *w,
    const struct cache *cache)
{
	*m = (struct module_build){.wanted = *w};
	if (w->dir)
		return target_find_worktree(&m->fixed, cache, w->dir);
	if (is_program(w->server))
		return find_program(m);
	m->origin = target_open_origin(
	    cache, w->server_repo ? w->server_repo : TARGET_VALKEY, NULL);
	return m->origin ? target_find_ref(&m->fixed, m->origin, w->server)
			 : -1;
}

static void
close_module(struct module_build *m)
{
	target_free(&m->fixed);
	target_free_origin(m->origin);
	json_free(m->program);
	free(m->path);
}

/* Returns the server to build for a target of the command line; NULL: a program
 * is used as it is. */
static const struct build_target *
choose_server(const struct module_build *m, const struct build_target *t)
{
	return m->wanted.dir ? t : m->program ? NULL : &m->fixed;
}

static const struct build_target *
get_module(const struct module_build *m, const struct build_target *t)
{
	return m->wanted.dir ? &m->fixed : t;
}

/* Adds the module, for that target, to the subject of a build record. */
static void
describe_module(const struct module_build *m, const struct build_target *t,
    struct json *subject)
{
	const struct build_target *module = get_module(m, t);
	struct json *build = json_get(subject, "build");

	json_set_str(subject, "module_commit", module->commit.id);
	json_set_str(subject, "module_time", module->commit.time);
	json_set_str(subject, "module_tree", module->tree);
	json_set_bool(subject, "module_dirty", module->dirty);
	if (m->wanted.dir)
		json_set_bool(subject, "module_fixed", true);
	json_set_str(build, "module", m->wanted.command);
	json_set_str(build, "module_file", m->wanted.file);
	json_set_str(build, "server", m->path);
	json_set_str(build, "server_repo", m->wanted.server_repo);
}

/* Adds the program to a build record, and writes the key of its build. */
static void
add_program(const struct module_build *m, struct json *build, char key[65])
{
	for (const struct json *j = json_first(m->program); j; j = json_next(j))
		json_set(build, json_key(j), json_dup(j));
	memcpy(key, json_get_str(m->program, "binary_sha256"), 65);
}

/* Returns the module's file (caller frees), or NULL after reporting an
 * error. */
static char *
find_module_file(const char *tree)
{
	char *copy = mem_str(tree), *roots[] = {copy, NULL}, *path = NULL;
	struct str names = {0}; /* relative to the tree */
	FTS *fts = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
	FTSENT *e;
	size_t n = 0;

	while (fts && (e = fts_read(fts))) {
		if (e->fts_info != FTS_F || !str_ends(e->fts_name, ".so"))
			continue;
		str_add(&names, n++ ? ", '" : "'");
		str_visible(&names, e->fts_path + strlen(tree) + 1);
		str_addc(&names, '\'');
		free(path);
		path = mem_str(e->fts_path);
	}
	if (fts)
		fts_close(fts);
	if (n == 0)
		err_fail("the command succeeded but made no *.so");
	if (n > 1) {
		err_fail("the command made several modules: %s; choose one "
			 "with '--module-file'",
		    names.s);
		free(path);
		path = NULL;
	}
	str_free(&names);
	free(copy);
	return path;
}

static int
collect_module(const struct buildstep *r, const char *tree, const char *dir,
    struct json *note)
{
	const struct module_build *m = r->arg;
	char *path = m->wanted.file ? mem_printf("%s/%s", tree, m->wanted.file)
				    : find_module_file(tree);
	char hex[HASH_HEX];
	int rc;

	if (!path)
		return -1;
	runas_begin_files(false);
	rc = hash_file(HASH_SHA256, path, hex);
	runas_end_files();
	if (rc < 0)
		rc = err_fail_sys("cannot read the module '%s'", path);
	else {
		json_set_str(note, "module_sha256", hex);
		rc =
		    put_file(dir, strrchr(path, '/') + 1, path, note, "module");
	}
	free(path);
	return rc == 0 ? 0 : -1;
}

/* Makes the step of the module for the server in the build record; free with
 * free_step. */
static void
make_module_step(struct buildstep *r, const struct module_build *m,
    const struct build_target *t, const struct json *build,
    const char *server_key)
{
	const struct build_target *module = get_module(m, t);
	const char *command = m->wanted.command, *file = m->wanted.file;
	const char *server = json_get_str(build, "server");
	const char *const texts[] = {server_key, module->commit.id,
	    module->tree, command, file ? file : "", NULL};
	const char *const compatible[] = {
	    "module", command, runas_name(), NULL};

	*r = (struct buildstep){.target = module,
	    .fresh = true,
	    .collect = collect_module,
	    .arg = m};
	r->argv = mem_array(4, sizeof *r->argv);
	r->argv[0] = "/bin/sh";
	r->argv[1] = "-c";
	r->argv[2] = command;
	r->env = mem_array(3, sizeof *r->env);
	r->env[0] = mem_printf("VKB_SERVER=%s", server);
	if (!m->program)
		r->env[1] = mem_printf("VKB_INCLUDE=%.*s/" BUILDSTEP_INCLUDE,
		    (int)(strrchr(server, '/') - server), server);
	flags_hash(r->key, texts);
	flags_hash(r->kind, compatible);
}

#define BUSY_MS 50   /* interval of checks on other builds */
#define DRAW_MS 1000 /* interval of drawings of the progress */

struct opts {
	const char *repo, *dir, *cache, *prune;
	struct module_wanted module;
	struct opt_list worktrees;
	struct flags_wanted flags;
	long long jobs;
	bool quiet;
};

#define AT(f) offsetof(struct opts, f)

static const struct opt option_table[] = {
    {'C', "directory", OPT_STR, AT(dir), "DIR",
	.help = "take commits from this local repository",
	.group = "Which commits"},
    {0, "repo", OPT_STR, AT(repo), "URL|PATH",
	.help =
	    "take commits from a mirror of this repository; default: Valkey's"},
    {0, "worktree", OPT_LIST, AT(worktrees), "[LABEL=]DIR",
	.help = "build a work tree as it is; repeatable"},
    {'j', "jobs", OPT_INT, AT(jobs), "N", .min = 1, .max = BUILD_JOBS_MAX,
	.help = "run up to N compilers at once; default: one per CPU",
	.group = "How to build"},
    {0, "tls", OPT_FLAG, AT(flags.tls), .help = "build with TLS"},
    {0, "debug-symbols", OPT_FLAG, AT(flags.debug_symbols),
	.help = "build with debug symbols, for perf and gdb"},
    {0, "frame-pointers", OPT_FLAG, AT(flags.frame_pointers),
	.help = "build with frame pointers, for call stacks"},
    {0, "cflags", OPT_STR, AT(flags.cflags), "FLAGS",
	.help = "pass more flags to the compiler"},
    {0, "allocator", OPT_CHOICE, AT(flags.allocator), "NAME",
	.choices = "libc|jemalloc|tcmalloc|tcmalloc_minimal",
	.help = "use this memory allocator"},
    {0, "make-arg", OPT_LIST, AT(flags.make_args), "NAME=VALUE",
	.help = "pass a variable to make; repeatable"},
    {0, "module-dir", OPT_STR, AT(module.dir), "DIR",
	.help = "also build the module in this work tree", .group = "A module"},
    {0, "module-build", OPT_STR, AT(module.command), "COMMAND",
	.help = "build the module with this shell command"},
    {0, "module-file", OPT_STR, AT(module.file), "FILE",
	.help = "file of the built module; default: the only *.so"},
    {0, "server", OPT_STR, AT(module.server), "REF|PATH", .last = true,
	.help = "take REFs as commits of the module, for this server"},
    {0, "server-repo", OPT_STR, AT(module.server_repo), "URL|PATH",
	.help = "take that server from this repository; default: Valkey's"},
    {0, "cache", OPT_STR, AT(cache), "DIR",
	.help = "keep builds in DIR; default: ~/.cache/vkb",
	.group = "Builds and progress"},
    {0, "prune", OPT_STR, AT(prune), "AGE|SIZE",
	.help = "first remove what is unused for 30d, or down to 20g in all"},
    {'q', "quiet", OPT_FLAG, AT(quiet), .help = "print no progress"}, {0}};

static const struct opt_prog prog = {.name = "vkb-build",
    .operands = "[[LABEL=]REF|ARCHIVE ...]",
    .purpose = "Build commits of Valkey and write build records to stdout.",
    .table = option_table};

enum state { WAITING, RUNNING, OK, FAILED };

struct job {
	struct build_target target;
	struct buildstep server, module;
	const struct buildstep *now; /* 'server' or 'module' */
	struct build *build;
	struct json *rec;
	bool made;     /* something was not in the cache */
	int64_t began; /* ns of clock_ns; 0: nothing was built yet */
	enum state state;
};

struct queue {
	struct job *v;
	size_t n, written, running;
	bool trouble, quiet;
	struct build_context shop;
	const struct flags *flags;
	const struct module_build *module; /* or NULL */
	struct statusline line;
};

static bool
is_stopped(const struct queue *q)
{
	return halt_reason(q->shop.cache->halt, NULL) != 0;
}

/* --- progress */

/* Writes "1/2 8.0.1". */
static void
write_job(struct str *s, const struct queue *q, const struct job *j)
{
	const struct build_target *t = &j->target;

	str_printf(s, "%td/%zu ", j - q->v + 1, q->n);
	str_visible(s, t->label ? t->label : t->ref);
}

/* Says that a build begins, for a log: a terminal shows what is running. */
static void
announce_job(const struct queue *q, struct job *j)
{
	struct str s = {0};

	if (j->began)
		return;
	j->began = clock_ns();
	if (q->quiet || q->line.live)
		return;
	write_job(&s, q, j);
	err_say("building %s", s.s);
	str_free(&s);
}

/* Draws "building 1/2 8.0.1 ... 42 s" for each build that runs. */
static void
draw_progress(struct queue *q)
{
	struct str s = {0};

	if (!q->running || !statusline_is_due(&q->line))
		return;
	for (size_t i = 0; i < q->n; i++) {
		const struct job *j = &q->v[i];

		if (j->state != RUNNING)
			continue;
		str_add(&s, s.len ? ", " : "building ");
		write_job(&s, q, j);
		str_printf(&s, " ... %lld s",
		    (long long)((clock_ns() - j->began) / 1000000000));
	}
	statusline_draw(s.s);
	str_free(&s);
}

/* --- jobs */

static void
fail_job(struct job *j, const char *error, const char *log)
{
	json_set_str(j->rec, "error", error);
	json_set_str(j->rec, "log", log);
	j->state = FAILED;
}

/* Fails the job and those that wait for the same build. */
static void
fail_jobs(struct queue *q, struct job *j, const char *error, const char *log)
{
	for (size_t i = 0; i < q->n; i++)
		if (q->v[i].state == WAITING &&
		    strcmp(q->v[i].now->key, j->now->key) == 0)
			fail_job(&q->v[i], error, log);
	fail_job(j, error, log);
}

static bool
is_same_running(const struct queue *q, const struct job *j)
{
	for (size_t i = 0; i < q->n; i++)
		if (q->v[i].state == RUNNING &&
		    strcmp(q->v[i].now->key, j->now->key) == 0)
			return true;
	return false;
}

/* Continues with the module, or ends the job: its output is in the record. */
static void
finish_stage(struct queue *q, struct job *j)
{
	if (!q->module || j->now == &j->module) {
		json_set_bool(j->rec, "cached", !j->made);
		j->state = OK;
		return;
	}
	make_module_step(
	    &j->module, q->module, &j->target, j->rec, j->server.key);
	j->state = WAITING;
	j->now = &j->module;
}

/* Starts a build unless it is cached; *busy: another program builds it. */
static int
start_job(struct queue *q, struct job *j, bool *busy)
{
	bool taken = false;
	char *error;

	while (j->state == WAITING && !is_same_running(q, j) &&
	    find_build(&q->shop, j->now, j->rec))
		finish_stage(q, j);
	if (j->state != WAITING || is_same_running(q, j))
		return 0;
	if (!take_job(&q->shop))
		return 0;
	j->build = start_build(&q->shop, j->now, &taken, &error);
	if (j->build) {
		j->state = RUNNING;
		q->running++;
		announce_job(q, j);
		return 0;
	}
	*busy |= taken;
	if (!taken)
		fail_job(j, error, NULL);
	free(error);
	return release_job(&q->shop);
}

static int
step_job(struct queue *q, struct job *j)
{
	int rc = step_build(j->build);

	if (rc == 0)
		return 0;
	j->made = true;
	if (rc > 0 && find_build(&q->shop, j->now, j->rec))
		finish_stage(q, j);
	else
		fail_jobs(q, j,
		    rc > 0 ? "the finished build has vanished from the cache"
			   : j->build->error,
		    j->build->log);
	free_build(j->build);
	j->build = NULL;
	q->running--;
	return release_job(&q->shop);
}

/* Writes records in the order of the command line, each as soon as possible. */
static int
write_finished(struct queue *q)
{
	for (; q->written < q->n && q->v[q->written].state >= OK;
	     q->written++) {
		struct job *j = &q->v[q->written];

		json_set_str(
		    j->rec, "status", j->state == OK ? "ok" : "failed");
		if (jsonl_write(STDOUT_FILENO, j->rec) < 0)
			return -1;
		q->trouble |= j->state == FAILED;
	}
	return 0;
}

static int
wait_for_builds(struct queue *q, bool busy)
{
	struct pollfd *p = mem_array(q->n + 1, sizeof *p);
	int rc = 0;

	p[0] = (struct pollfd){
	    .fd = halt_fd(q->shop.cache->halt), .events = POLLIN};
	for (size_t i = 0; i < q->n; i++)
		p[i + 1] = (struct pollfd){.fd = q->v[i].state == RUNNING
			? proc_fd(q->v[i].build->make)
			: -1,
		    .events = POLLIN};
	/* A running make may also have returned a token. */
	poll(p, q->n + 1,
	    busy || q->running < q->n - q->written ? BUSY_MS
		: q->line.live                     ? DRAW_MS
						   : -1);
	if (is_stopped(q))
		rc = -1;
	for (size_t i = 0; rc == 0 && i < q->n; i++)
		if (p[i + 1].revents)
			rc = step_job(q, &q->v[i]);
	free(p);
	return rc;
}

/* Returns 0 after trying all, or -1 if stopped or after reporting an error. */
static int
run_queue(struct queue *q)
{
	for (;;) {
		bool busy = false;

		for (size_t i = 0; i < q->n; i++)
			if (start_job(q, &q->v[i], &busy) < 0)
				return -1;
		if (write_finished(q) < 0)
			return -1;
		if (q->written == q->n)
			return 0;
		draw_progress(q);
		if (wait_for_builds(q, busy) < 0)
			return -1;
	}
}

/* --- what to build */

static void
prepare_job(struct queue *q, struct job *j)
{
	const struct build_target *server =
	    q->module ? choose_server(q->module, &j->target) : &j->target;

	j->rec = record_new("build");
	json_set(j->rec, "subject",
	    target_describe_subject(&j->target, server, q->flags));
	json_set_str(j->rec, "status", "failed");
	j->now = &j->server;
	if (q->module)
		describe_module(
		    q->module, &j->target, json_get(j->rec, "subject"));
	if (server)
		make_server_step(&j->server, server, q->flags);
	else {
		add_program(q->module, j->rec, j->server.key);
		finish_stage(q, j);
	}
}

/* With a fixed server, all operands are commits of the module. */
static bool
is_archive(const struct opts *o, const char *text)
{
	return !o->module.server && tarball_named(text);
}

/* Finds all that is named before anything is built. Returns 0, or -1 if stopped
 * or after reporting each that cannot be built. */
static int
resolve_targets(struct queue *q, const struct opts *o,
    const struct opt_args *args, struct origin **origin)
{
	size_t refs = 0;
	int rc = 0;

	q->v = mem_array(args->n + o->worktrees.n + 1, sizeof *q->v);
	for (size_t i = 0; i < args->n; i++)
		refs += !is_archive(o, args->v[i]);
	if (refs &&
	    !(*origin = target_open_origin(
		  q->shop.cache, o->repo ? o->repo : TARGET_VALKEY, o->dir)))
		return -1;
	for (size_t i = 0; i < args->n && !is_stopped(q); i++) {
		struct build_target *t = &q->v[q->n++].target;

		if (is_archive(o, args->v[i]))
			rc |= target_find_archive(t, q->shop.cache, args->v[i]);
		else
			rc |= target_find_ref(t, *origin, args->v[i]);
	}
	for (size_t i = 0; i < o->worktrees.n && !is_stopped(q); i++)
		rc |= target_find_worktree(
		    &q->v[q->n++].target, q->shop.cache, o->worktrees.v[i]);
	if (rc < 0 || is_stopped(q))
		return -1;
	for (size_t i = 0; i < q->n; i++)
		prepare_job(q, &q->v[i]);
	return 0;
}

static void
close_queue(struct queue *q)
{
	for (size_t i = 0; i < q->n; i++) {
		free_build(q->v[i].build);
		json_free(q->v[i].rec);
		free_step(&q->v[i].server);
		free_step(&q->v[i].module);
		target_free(&q->v[i].target);
	}
	free(q->v);
}

static int
build_targets(const struct opts *o, const struct opt_args *args)
{
	const char *certificates = getenv("SSL_CERT_FILE");
	struct origin *origin = NULL;
	struct cache cache = {0};
	struct module_build module = {0};
	struct flags flags = {0};
	struct queue q = {.quiet = o->quiet};
	struct halt *halt = halt_open(false);
	int rc = 2;

	q.shop.cache = &cache;
	q.flags = &flags;
	if (!halt || cache_open(&cache, o->cache, halt) < 0 ||
	    (o->prune && cache_prune(&cache, o->prune) < 0))
		goto out;
	if (!args->n && !o->worktrees.n) {
		rc = 0;
		goto out;
	}
	if (flags_init(&flags, &o->flags) < 0 ||
	    open_jobs(&q.shop, o->jobs) < 0 ||
	    (certificates && *certificates &&
		gitrepo_certificates(certificates) < 0))
		goto out;
	if (o->module.command) {
		q.module = &module;
		if (open_module(&module, &o->module, &cache) < 0)
			goto out;
	}
	statusline_open(&q.line, o->quiet);
	if (resolve_targets(&q, o, args, &origin) == 0 && run_queue(&q) == 0)
		rc = q.trouble ? 2 : 0;
	statusline_close(&q.line);
out:
	close_queue(&q);
	close_module(&module);
	target_free_origin(origin);
	flags_free(&flags);
	cache_close(&cache);
	halt_finish(halt);
	return rc;
}

static int
run_build(void *opts, struct opt_args *args)
{
	struct opts *o = opts;
	const char *wrong = check_module(&o->module);

	if (!args->n && !o->worktrees.n && !o->prune)
		return opt_usage(&prog, "nothing to build: no REF or ARCHIVE");
	if (o->dir && o->repo)
		return opt_usage(
		    &prog, "options '-C' and '--repo' exclude each other");
	if (wrong)
		return opt_usage(&prog, wrong);
	if (o->module.server && args->n && !o->dir && !o->repo)
		return opt_usage(&prog,
		    "'--server' needs '-C' or '--repo', the repository of the "
		    "module");
	if (is_program(o->module.server) &&
	    (o->flags.tls || o->flags.cflags || o->flags.allocator ||
		o->flags.make_args.n))
		return opt_usage(&prog,
		    "'--tls', '--cflags', '--allocator' and '--make-arg' are "
		    "for a server that is built, and '--server' names one that "
		    "is installed");
	return build_targets(o, args);
}

int
main(int argc, char **argv)
{
	struct opts o = {0};

	return opt_main(&prog, argc, argv, &o, run_build);
}
