#include "reaper.h"
#include "err.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/*
 * Our end of a socket: a byte dismisses the process of reaper_start, and its
 * end, when this program and the reapers of its children have closed it, makes
 * that process clean up.
 */
static int alive = -1;
static pid_t cleaner;

pid_t
reaper_fork(void)
{
	sigset_t all, before;
	pid_t pid;
	int why;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &before);
	pid = fork();
	if (pid == 0) /* an ignored SIGCHLD would hide the status of children */
		signal(SIGCHLD, SIG_DFL);
	else {
		why = errno;
		sigprocmask(SIG_SETMASK, &before, NULL);
		errno = why;
	}
	return pid;
}

static void
close_files_from(unsigned first)
{
	if (syscall(SYS_close_range, first, ~0U, 0) < 0)
		for (long i = first; i < sysconf(_SC_OPEN_MAX); i++)
			close((int)i);
}

void
reaper_detach(int fd)
{
	int null, kept = 3;

	setsid();
	prctl(PR_SET_NAME, REAPER_NAME);
	/* above the numbers that they get */
	fd = fcntl(fd, F_DUPFD, 5);
	if (alive >= 0)
		alive = fcntl(alive, F_DUPFD, 5);
	if (fd < 0 || dup2(fd, 3) < 0)
		_exit(2);
	if (alive >= 0)
		kept = dup2(alive, 4);
	close_files_from((unsigned)kept + 1);
	null = open("/dev/null", O_RDWR);
	for (int i = 0; i < 3; i++)
		dup2(null, i);
	if (null > 2)
		close(null);
}

int
reaper_start(void (*clean)(void *), void *arg)
{
	int fds[2];
	ssize_t n;
	char c;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) < 0)
		return err_fail_sys("cannot start the reaper process");
	cleaner = reaper_fork();
	if (cleaner == 0) {
		reaper_detach(fds[1]);
		while ((n = read(3, &c, 1)) < 0 && errno == EINTR)
			;
		if (n == 0)
			clean(arg);
		_exit(0);
	}
	close(fds[1]);
	if (cleaner > 0) {
		alive = fds[0];
		return 0;
	}
	close(fds[0]);
	return err_fail_sys("cannot start the reaper process");
}

void
reaper_dismiss(void)
{
	if (alive < 0)
		return;
	send(alive, "", 1, MSG_NOSIGNAL);
	close(alive);
	alive = -1;
	while (waitpid(cleaner, NULL, 0) < 0 && errno == EINTR)
		;
}
