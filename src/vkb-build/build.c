#include "build.h"
#include "cache.h"
#include "flags.h"
#include "goal.h"
#include "tree.h"

#include "clock.h"
#include "err.h"
#include "folder.h"
#include "guard.h"
#include "json.h"
#include "jsonfile.h"
#include "mem.h"
#include "proc.h"
#include "str.h"
#include "tempfile.h"
#include "tls.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define GRACE_MS 3000
#define ANSWER_MS 20000
#define TAIL_LINES 20
#define TAIL_BYTES 4000

static const char *const programs[] = {
    "valkey-server", "valkey-cli", "valkey-benchmark"};
static const char *const keys[] = {"server", "cli", "benchmark"};
#define PROGRAMS (sizeof programs / sizeof *programs)

struct build {
	struct workshop *shop;
	const struct goal *goal;
	struct tree tree;
	int lock;
	bool again; /* goes on from objects of another commit */
	struct proc *make;
	char *log, *error;
	int64_t began;
};

static int
failed(struct build *b)
{
	free(b->error);
	b->error = mem_str(err_last());
	return -1;
}

/* --- finished builds */

int
build_find(const struct workshop *w, const struct goal *t, struct json *rec)
{
	char *dir = cache_path(w->cache, "builds", t->key), *path;
	struct json *note = NULL, *kept;
	struct stat st;
	int rc = 0;

	path = mem_printf("%s/build.json", dir);
	if (access(path, R_OK) == 0)
		note = jsonfile_read(path);
	if (note)
		utimensat(AT_FDCWD, path, NULL, 0); /* it was used */
	free(path);
	path = mem_printf("%s/%s", dir, programs[0]);
	if (note && stat(path, &st) == 0 && S_ISREG(st.st_mode) &&
	    (double)st.st_size == json_get_num(note, "server_bytes", -1))
		rc = 1;
	free(path);
	for (size_t i = 0; rc == 1 && i < PROGRAMS; i++) {
		path = mem_printf("%s/%s", dir, programs[i]);
		if (access(path, X_OK) == 0)
			json_set_str(rec, keys[i], path);
		free(path);
	}
	if (rc == 1) {
		path = mem_printf("%s/log", dir);
		json_set_str(rec, "log", path);
		free(path);
		while ((kept = json_first(note))) {
			char *key = mem_str(json_key(kept));

			kept = json_detach(note, key);
			if (strcmp(key, "server_bytes") == 0)
				json_free(kept);
			else
				json_set(rec, key, kept);
			free(key);
		}
	}
	json_free(note);
	free(dir);
	return rc;
}

/* --- make */

static void
pass(struct str *env, const char *name)
{
	const char *v = getenv(name);

	if (v)
		str_printf(env, "%s=%s%c", name, v, '\0');
}

/* The whole environment of make: what a build needs and nothing private. */
static void
environment(const struct build *b, struct str *env)
{
	const struct workshop *w = b->shop;

	pass(env, "PATH");
	pass(env, "HOME");
	pass(env, "TMPDIR");
	str_printf(env, "LC_ALL=C%c", '\0');
	str_printf(
	    env, "SOURCE_DATE_EPOCH=%lld%c", b->goal->commit.seconds, '\0');
	str_printf(env, "GIT_CONFIG_GLOBAL=/dev/null%c", '\0');
	str_printf(env, "GIT_CONFIG_NOSYSTEM=1%c", '\0');
	str_printf(env, "CCACHE_DIR=%s/ccache%c", w->cache->dir, '\0');
	str_printf(env, "CCACHE_BASEDIR=%s%c", b->tree.dir, '\0');
	str_printf(env, "CCACHE_NOHASHDIR=1%c", '\0');
	str_printf(env, "CCACHE_MAXSIZE=1G%c", '\0');
	str_printf(env, "MAKEFLAGS= -j%d --jobserver-auth=%d,%d%c", w->jobs,
	    w->tokens[0], w->tokens[1], '\0');
}

/* Leads a session of its own: no terminal, and one group to end it by. */
static int
start(struct build *b)
{
	const struct flags *f = b->shop->flags;
	struct proc_spec spec = {.session = true, .cwd = b->tree.dir};
	struct str env = {0};
	const char **argv;
	size_t n = 0;

	environment(b, &env);
	argv = mem_array(env.len + f->n + PROGRAMS + 8, sizeof *argv);
	argv[n++] = "env";
	argv[n++] = "-i";
	for (size_t at = 0; at < env.len; at += strlen(env.s + at) + 1)
		argv[n++] = env.s + at;
	argv[n++] = "make";
	argv[n++] = "-C";
	argv[n++] = "src";
	for (size_t i = 0; i < f->n; i++)
		argv[n++] = f->make[i];
	for (size_t i = 0; i < PROGRAMS; i++)
		argv[n++] = programs[i];
	spec.argv = argv;
	spec.in = open("/dev/null", O_RDONLY | O_CLOEXEC);
	spec.out = spec.err =
	    open(b->log, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	if (spec.in < 0 || spec.out < 0)
		err_fail_sys("cannot write '%s'", b->log);
	else
		b->make = proc_start(&spec);
	if (spec.in >= 0)
		close(spec.in);
	if (spec.out >= 0)
		close(spec.out);
	free(argv);
	str_free(&env);
	if (!b->make)
		return -1;
	return guard_add(b->shop->guard, proc_pid(b->make));
}

/* The sources, then make. */
static int
begin(struct build *b, bool empty)
{
	const struct goal *t = b->goal;

	if (tree_fill(&b->tree, t->files, t->tree, empty) < 0 ||
	    gitrepo_pose(t->repo, t->commit.id, t->dirty, b->tree.dir) < 0 ||
	    start(b) < 0)
		return failed(b);
	return 0;
}

struct build *
build_start(struct workshop *w, const struct goal *t, bool *busy, char **error)
{
	int lock = cache_lock(w->cache, t->key);
	char *name = mem_printf("%s.log", t->key);
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
	    .goal = t,
	    .lock = lock,
	    .tree = {.lock = -1},
	    .log = cache_path(w->cache, "logs", name),
	    .began = clock_ns()};
	free(name);
	if (tree_take(&b->tree, w->cache, w->kind, t->files, t->tree) < 0)
		failed(b);
	else {
		b->again = *b->tree.was;
		if (begin(b, false) == 0)
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

/* --- the end of it */

/* The end of the log, fit for people. */
static void
tail(struct str *out, const char *log)
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
make_failed(struct build *b, int status)
{
	struct str s = {0};
	char how[80];

	str_printf(&s,
	    "make %s; the end of '%s':", proc_ended(status, how, sizeof how),
	    b->log);
	tail(&s, b->log);
	free(b->error);
	err_say("%s: %s", b->goal->ref, s.s);
	b->error = str_take(&s);
	return -1;
}

/*
 * What the server says of its commit: "sha=1f9c0ab2:0", all zeros where it
 * does not know. 0 with *sha (caller frees) or NULL, -1: it is another's.
 */
static int
verify(struct build *b, const char *server, char **version, char **sha)
{
	const char *argv[] = {server, "--version", NULL};
	const char *s, *id = b->goal->commit.id;
	struct str out = {0};
	int status, rc = -1;
	size_t n;

	*version = *sha = NULL;
	if (proc_read(argv, ANSWER_MS, &out, &status) < 0)
		goto out;
	str_add(&out, "");
	if (status || !out.len) {
		err_fail("the server that was built does not run: %s",
		    out.len ? out.s : "it says nothing");
		goto out;
	}
	if ((s = strstr(out.s, " v="))) {
		*version = mem_strn(s + 3, strcspn(s + 3, " \n"));
	}
	s = strstr(out.s, " sha=");
	n = s ? strspn(s + 5, "0123456789abcdef") : 0;
	rc = 0;
	if (!n || strspn(s + 5, "0") >= n)
		goto out;
	*sha = mem_strn(s + 5, n);
	if (*id && (n > strlen(id) || strncmp(*sha, id, n) != 0))
		rc = err_fail("the server that was built reports the commit "
			      "'%s', not '%.10s'",
		    *sha, id);
out:
	str_free(&out);
	return rc;
}

/* 0 copied, 1 there is no such file, or -1 and said. */
static int
copy(const char *from, const char *to)
{
	int in = open(from, O_RDONLY | O_CLOEXEC), out, rc = 0;
	char buf[65536];
	ssize_t n;

	if (in < 0)
		return errno == ENOENT ? 1
				       : err_fail_sys("cannot read '%s'", from);
	out = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0777);
	while (out >= 0 && (n = read(in, buf, sizeof buf)) > 0)
		if (write(out, buf, (size_t)n) != n)
			break;
	if (out < 0 || n != 0 || fsync(out) < 0)
		rc = err_fail_sys("cannot write '%s'", to);
	if (out >= 0 && close(out) < 0 && rc == 0)
		rc = err_fail_sys("cannot write '%s'", to);
	close(in);
	return rc;
}

static int
copy_all(const struct build *b, const char *dir)
{
	char *from, *to;
	int rc = 0;

	for (size_t i = 0; rc >= 0 && i < PROGRAMS; i++) {
		from = mem_printf("%s/src/%s", b->tree.dir, programs[i]);
		to = mem_printf("%s/%s", dir, programs[i]);
		rc = copy(from, to);
		if (rc == 1 && i == 0)
			rc = err_fail("make ended well but made no '%s'", from);
		free(from);
		free(to);
	}
	from = mem_printf("%s/log", dir);
	if (rc >= 0)
		rc = copy(b->log, from);
	free(from);
	return rc < 0 ? -1 : 0;
}

/* What is known of a finished build; NULL and said. */
static struct json *
describe(struct build *b, const char *server)
{
	struct json *j = json_object();
	char *version, *sha, hex[65];
	struct stat st;
	int fd = -1, rc = verify(b, server, &version, &sha);

	if (rc == 0 &&
	    ((fd = open(server, O_RDONLY | O_CLOEXEC)) < 0 ||
		fstat(fd, &st) < 0 || tls_sha256(fd, hex) < 0))
		rc = err_fail_sys("cannot read '%s'", server);
	if (rc == 0) {
		json_set_num(j, "server_bytes", (double)st.st_size);
		json_set_str(j, "binary_sha256", hex);
		if (version)
			json_set_str(j, "version", version);
		if (sha)
			json_set_str(j, "git_sha", sha);
		json_set_bool(j, "incremental", b->again);
		json_set_num(j, "seconds",
		    (double)((clock_ns() - b->began) / 1000000) / 1000);
	}
	if (fd >= 0)
		close(fd);
	free(version);
	free(sha);
	if (rc == 0)
		return j;
	json_free(j);
	return NULL;
}

static int
write_note(const char *dir, const struct json *note)
{
	char *path = mem_printf("%s/build.json", dir), *text = json_print(note);
	struct tempfile *f = tempfile_open(path);
	int rc = -1;

	if (f) {
		fprintf(tempfile_stream(f), "%s\n", text);
		rc = tempfile_commit(f);
	}
	free(path);
	free(text);
	return rc;
}

/* Beside its place first; there it counts at once and as a whole. */
static int
publish(struct build *b)
{
	char *dir = cache_path(b->shop->cache, "builds", b->goal->key);
	char *tmp = mem_printf("%s.new", dir);
	char *server = mem_printf("%s/%s", tmp, programs[0]);
	struct json *note = NULL;
	int rc = -1;

	if (folder_remove(tmp) < 0)
		err_fail_sys("cannot remove '%s'", tmp);
	else if (folder_make(tmp) == 0 && copy_all(b, tmp) == 0 &&
	    (note = describe(b, server)) && write_note(tmp, note) == 0) {
		if (folder_remove(dir) < 0 || rename(tmp, dir) < 0)
			err_fail_sys("cannot put '%s' in place", dir);
		else
			rc = 0;
	}
	if (rc < 0)
		failed(b);
	if (rc < 0)
		folder_remove(tmp);
	json_free(note);
	free(server);
	free(tmp);
	free(dir);
	return rc;
}

static void
stop(struct build *b)
{
	if (!b->make)
		return;
	if (!proc_wait(b->make, 0, NULL))
		proc_stop(b->make, GRACE_MS);
	guard_drop(b->shop->guard, proc_pid(b->make));
	proc_free(b->make);
	b->make = NULL;
}

/* Objects of another commit may be at fault: then once more without them. */
static int
once_more(struct build *b)
{
	b->again = false;
	return begin(b, true);
}

int
build_step(struct build *b)
{
	int status, rc;

	proc_signal(b->make, SIGKILL); /* it has ended: what it left behind */
	if (!proc_wait(b->make, -1, &status))
		return 0;
	stop(b);
	if (status != 0)
		return b->again ? once_more(b) : make_failed(b, status);
	rc = publish(b);
	if (rc < 0)
		return b->again ? once_more(b) : -1;
	unlink(b->log);
	return tree_done(&b->tree, b->goal->tree) < 0 ? failed(b) : 1;
}

void
build_free(struct build *b)
{
	if (!b)
		return;
	stop(b);
	tree_give(&b->tree);
	cache_unlock(b->lock);
	free(b->log);
	free(b->error);
	free(b);
}
