#include "held.h"
#include "err.h"
#include "mem.h"
#include "proc.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct held {
	struct proc *proc;
	int gate; /* a byte releases the command; -1: closed */
};

struct held *
held_start(char *const *argv)
{
	struct held *h = mem_new(sizeof *h);
	struct proc_spec spec = {
	    .argv = (const char *const *)argv, .death_signal = SIGTERM};

	if (pipe2(spec.gate, O_CLOEXEC) < 0) {
		err_fail_sys("cannot start '%s'", argv[0]);
		free(h);
		return NULL;
	}
	h->proc = proc_start(&spec);
	h->gate = spec.gate[1];
	close(spec.gate[0]);
	if (h->proc)
		return h;
	close(h->gate);
	free(h);
	return NULL;
}

static void
close_gate(struct held *h)
{
	if (h->gate >= 0)
		close(h->gate);
	h->gate = -1;
}

void
held_free(struct held *h)
{
	if (!h)
		return;
	close_gate(h);
	held_signal(h, SIGTERM);
	proc_wait(h->proc, -1, NULL);
	proc_free(h->proc);
	free(h);
}

pid_t
held_pid(const struct held *h)
{
	return proc_pid(h->proc);
}

int
held_fd(const struct held *h)
{
	return proc_fd(h->proc);
}

void
held_release(struct held *h)
{
	if (h->gate >= 0 && write(h->gate, "", 1) != 1)
		err_say("cannot start the command: %s", strerror(errno));
	close_gate(h);
}

void
held_signal(struct held *h, int sig)
{
	proc_signal(h->proc, sig);
}

int
held_wait(struct held *h)
{
	int status;

	close_gate(h);
	proc_wait(h->proc, -1, &status);
	return proc_exit_status(status);
}
