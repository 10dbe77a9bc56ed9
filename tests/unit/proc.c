/* Child processes: which signals to the parent's process group reach them. */
#include "proc.h"

#include <signal.h>
#include <stddef.h>
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

int
main(void)
{
	test_interrupts();
	return tap_done();
}
