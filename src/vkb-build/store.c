#include "store.h"
#include "cache.h"

#include "err.h"
#include "folder.h"
#include "gitrepo.h"
#include "halt.h"
#include "mem.h"
#include "str.h"

#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

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

int
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
