#include "held.h"
#include "err.h"
#include "mem.h"
#include "proc.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

struct held {
	pid_t pid;
	int fd;   /* pidfd */
	int gate; /* pipe; a byte releases the command */
	bool ended;
	int status;
};

/* Runs in the child, which ends with its parent. */
static _Noreturn void
wait_and_exec(int gate, char *const *argv, pid_t parent)
{
	sigset_t none;
	int status;
	char c;

	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != parent || read(gate, &c, 1) != 1)
		_exit(125);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	execvp(argv[0], argv);
	status = errno == ENOENT ? 127 : 126;
	err_say("cannot run '%s': %s", argv[0], strerror(errno));
	_exit(status);
}

struct held *
held_start(char *const *argv)
{
	struct held *h = mem_new(sizeof *h);
	pid_t parent = getpid();
	int fds[2];

	if (pipe2(fds, O_CLOEXEC) < 0) {
		err_fail_sys("cannot start '%s'", argv[0]);
		free(h);
		return NULL;
	}
	h->pid = fork();
	if (h->pid == 0) {
		close(fds[1]);
		wait_and_exec(fds[0], argv, parent);
	}
	close(fds[0]);
	h->gate = fds[1];
	h->fd = h->pid < 0 ? -1 : (int)syscall(SYS_pidfd_open, h->pid, 0);
	if (h->fd >= 0)
		return h;
	err_fail_sys("cannot start '%s'", argv[0]);
	close(h->gate);
	free(h);
	return NULL;
}

static void
reap_child(struct held *h)
{
	while (!h->ended) {
		if (waitpid(h->pid, &h->status, 0) < 0 && errno == EINTR)
			continue;
		h->ended = true;
	}
}

void
held_free(struct held *h)
{
	if (!h)
		return;
	if (h->gate >= 0)
		close(h->gate);
	held_signal(h, SIGTERM);
	reap_child(h);
	close(h->fd);
	free(h);
}

pid_t
held_pid(const struct held *h)
{
	return h->pid;
}

int
held_fd(const struct held *h)
{
	return h->fd;
}

void
held_release(struct held *h)
{
	if (h->gate < 0)
		return;
	if (write(h->gate, "", 1) != 1)
		err_say("cannot start the command: %s", strerror(errno));
	close(h->gate);
	h->gate = -1;
}

void
held_signal(struct held *h, int sig)
{
	if (!h->ended)
		kill(h->pid, sig);
}

int
held_wait(struct held *h)
{
	if (h->gate >= 0)
		close(h->gate);
	h->gate = -1;
	reap_child(h);
	return proc_exit_status(h->status);
}
