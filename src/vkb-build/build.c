#include "build.h"
#include "buildstep.h"
#include "cache.h"
#include "cgroup.h"
#include "clock.h"
#include "err.h"
#include "folder.h"
#include "gitrepo.h"
#include "json.h"
#include "mem.h"
#include "proc.h"
#include "runas.h"
#include "str.h"
#include "target.h"
#include "tempfile.h"

#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

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
keep_error(struct build *b)
{
	free(b->error);
	b->error = mem_str(err_last());
	return -1;
}

/* --- jobs */

int
build_open_jobs(struct build_context *w, long long jobs)
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
		if (build_release_job(w) < 0)
			return -1;
	return 0;
}

bool
build_take_job(struct build_context *w)
{
	char token;

	return read(w->free_jobs, &token, 1) == 1;
}

int
build_release_job(struct build_context *w)
{
	return write(w->tokens[1], "+", 1) == 1
	    ? 0
	    : err_fail_sys("cannot write to a pipe");
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
	return rc < 0 || start_make(b) < 0 ? keep_error(b) : 0;
}

int
build_find(
    const struct build_context *w, const struct buildstep *r, struct json *rec)
{
	char *dir = cache_path(w->cache, "builds", r->key);
	char *log = mem_printf("%s/log", dir);
	int rc = buildstep_find(dir, rec);

	if (rc == 1 && !json_get(rec, "log"))
		json_set_str(rec, "log", log);
	free(log);
	free(dir);
	return rc;
}

struct build *
build_start(struct build_context *w, const struct buildstep *r, bool *busy,
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
		keep_error(b);
	else {
		b->incremental = *b->tree.built && !r->fresh;
		if (begin_build(b, r->fresh) == 0)
			return b;
	}
	*error = mem_str(b->error);
	build_free(b);
	return NULL;
}

int
build_fd(const struct build *b)
{
	return proc_fd(b->make);
}

const char *
build_error(const struct build *b)
{
	return b->error;
}

const char *
build_log(const struct build *b)
{
	return b->log;
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
	    buildstep_put(dir, "log", b->log, NULL, NULL) < 0)
		goto out;
	if (!b->step->fresh) {
		json_set_bool(note, "incremental", b->incremental);
		json_set_num(note, "seconds",
		    (double)((clock_ns() - b->began) / 1000000) / 1000);
	}
	rc = buildstep_write_note(dir, note);
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
		keep_error(b);
		folder_remove(tmp);
	}
	free(tmp);
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

int
build_step(struct build *b)
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
		return keep_error(b);
	return 1;
}

void
build_free(struct build *b)
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
