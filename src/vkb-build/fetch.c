#include "fetch.h"

#include "err.h"
#include "gitrepo.h"
#include "str.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define STOP_MS 50 /* interval at which stop() is polled */

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

/* Reads until the child ends. Returns 0, or -1 if stop() returns true. */
static int
read_from_child(int fd, struct str *message, bool (*stop)(void *), void *arg)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};
	char buf[4096];
	ssize_t n;

	for (;;) {
		if (stop(arg))
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

int
fetch_in_child(struct gitrepo *r, const char *url, const char *const *specs,
    bool all, bool (*stop)(void *), void *arg)
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
	rc = read_from_child(fds[0], &message, stop, arg);
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
