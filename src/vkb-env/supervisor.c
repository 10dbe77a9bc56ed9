#include "supervisor.h"
#include "err.h"
#include "mem.h"
#include "tune.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

struct supervisor {
	int fd; /* a byte dismisses it, end of file makes it restore */
	pid_t pid;
};

/* Detaches the supervisor: no terminal and no pipe must wait for it. */
static void
detach_process(void)
{
	static const int signals[] = {
	    SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE};
	int null = open("/dev/null", O_RDWR);

	setsid();
	for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
		signal(signals[i], SIG_IGN);
	if (null >= 0) {
		dup2(null, STDIN_FILENO);
		dup2(null, STDOUT_FILENO);
	}
}

_Noreturn static void
run_supervisor(int fd, const struct tune *t)
{
	ssize_t n;
	char c;

	detach_process();
	do
		n = read(fd, &c, 1);
	while (n < 0 && errno == EINTR);
	_exit(n == 0 && tune_restore(t) < 0 ? 2 : 0);
}

struct supervisor *
supervisor_start(const struct tune *t)
{
	struct supervisor *k;
	int fd[2];
	pid_t pid;

	if (pipe2(fd, O_CLOEXEC) < 0) {
		err_fail_sys("cannot make a pipe");
		return NULL;
	}
	pid = fork();
	if (pid == 0) {
		close(fd[1]);
		run_supervisor(fd[0], t);
	}
	close(fd[0]);
	if (pid < 0) {
		err_fail_sys("cannot fork");
		close(fd[1]);
		return NULL;
	}
	k = mem_new(sizeof *k);
	*k = (struct supervisor){fd[1], pid};
	return k;
}

void
supervisor_dismiss(struct supervisor *k)
{
	if (!k)
		return;
	while (write(k->fd, "", 1) < 0 && errno == EINTR)
		;
	close(k->fd);
	while (waitpid(k->pid, NULL, 0) < 0 && errno == EINTR)
		;
	free(k);
}
