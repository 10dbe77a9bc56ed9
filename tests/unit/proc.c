/* Child processes: which signals to the parent's process group reach them, and
 * what they have started ends with them. */
#include "proc.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tap.h"

/* Sends interrupts to the process group of the parent until that ends this
 * process. */
static pid_t
start_interrupts(void)
{
	pid_t group = getpgrp(), pid = fork();

	if (pid != 0)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	setpgid(0, 0);
	for (;;)
		kill(-group, SIGINT);
}

static void
test_interrupts(void)
{
	static const char *const argv[] = {"true", NULL};
	struct proc_spec spec = {
	    .argv = argv, .group = true, .death_signal = SIGTERM};
	sigset_t set;
	int i, status, ended = 0;
	struct proc *p;
	pid_t pid;

	setpgid(0, 0);
	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigprocmask(SIG_BLOCK, &set, NULL);
	pid = start_interrupts();
	for (i = 0; i < 50; i++) {
		spec.session = i % 2;
		p = proc_start(&spec);
		if (p && proc_wait(p, 60000, &status) && status == 0)
			ended++;
		proc_free(p);
	}
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	tap_ok(ended == 50,
	    "a child in its own process group gets no interrupt of its "
	    "parent's group (%d of 50)",
	    ended);
}

/* A shell that leaves a daemon, which holds the pipe 'out', ignores signals and
 * has a session and a parent of its own. */
static const char leaves_daemon[] =
    "(setsid sh -c 'trap \"\" TERM HUP INT; while :; do sleep 1000; done' "
    "2>/dev/null &) & wait";

static struct proc *
start_daemon(int out)
{
	const char *const argv[] = {"sh", "-c", leaves_daemon, NULL};
	const struct proc_spec spec = {
	    .argv = argv, .out = out, .death_signal = SIGKILL};

	return proc_start(&spec);
}

/* Is a pipe closed by all that could write to it? Waits for that for up to
 * timeout_ms. */
static bool
is_closed(int fd, int timeout_ms)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};

	return poll(&p, 1, timeout_ms) > 0 && (p.revents & POLLHUP);
}

static void
test_daemons(void)
{
	int fds[2], status;
	struct proc *p;

	if (pipe2(fds, O_CLOEXEC) < 0)
		abort();
	p = start_daemon(fds[1]);
	close(fds[1]);
	tap_ok(p && proc_wait(p, 60000, &status) && status == 0,
	    "a process ends and leaves a daemon");
	tap_ok(!is_closed(fds[0], 0), "the daemon runs");
	tap_ok(p && proc_left(p), "which proc_left tells");
	proc_free(p);
	tap_ok(is_closed(fds[0], 0), "it has ended after proc_free");
	close(fds[0]);
}

/* Something is left only while it runs: not a process that has ended, nor the
 * child that it had. */
static void
test_nothing_left(void)
{
	const char *argv[] = {"sh", "-c", "sleep 0; : & wait", NULL};
	struct proc *p = proc_start(&(struct proc_spec){.argv = argv});

	tap_ok(p && !proc_left(p), "nothing is left of one that has waited");
	tap_ok(p && !proc_left(p), "the answer is the same again");
	proc_free(p);
}

/* A daemon of a process whose parent is killed. */
static void
test_killed(bool reaper)
{
	int fds[2], status;
	struct proc *p;
	pid_t pid;
	char c;

	if (pipe2(fds, O_CLOEXEC) < 0)
		abort();
	pid = fork();
	if (pid == 0) {
		if (reaper)
			setpgid(0, 0);
		p = start_daemon(fds[1]);
		if (!p || proc_wait(p, -1, &status) != 1 ||
		    write(fds[1], "", 1) != 1)
			_exit(1);
		for (;;)
			pause();
	}
	if (reaper)
		setpgid(pid, pid);
	close(fds[1]);
	if (read(fds[0], &c, 1) != 1)
		abort();
	tap_ok(!is_closed(fds[0], 0), "a daemon runs");
	kill(reaper ? -pid : pid, SIGKILL);
	waitpid(pid, NULL, 0);
	tap_ok(is_closed(fds[0], 60000),
	    "it ends when the %s that started its parent is killed",
	    reaper ? "process group of the program" : "program");
	close(fds[0]);
}

int
main(void)
{
	test_daemons();
	test_nothing_left();
	test_killed(false);
	test_killed(true);
	test_interrupts();
	return tap_done();
}
