#include "hold.h"

#include "clock.h"
#include "err.h"
#include "guard.h"
#include "halt.h"
#include "proc.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/wait.h>

#define GRACE_MS 10000

struct hold {
	const char *const *words;
	struct proc *beat, *command;
	struct halt *halt;
	int64_t lease, next, end; /* ns: of a beat, of the claim */
	int64_t begun;            /* the beat at work */
};

static int
start_beat(struct hold *h)
{
	const struct proc_spec spec = {
	    .argv = h->words, .death_signal = SIGKILL};

	h->begun = clock_ns();
	h->next = h->begun + h->lease / 3;
	h->beat = proc_start(&spec);
	return h->beat ? 0 : -1;
}

/* What the beat came to: 0 go on, -1 the claim is not ours, said. */
static int
end_beat(struct hold *h, int status)
{
	proc_free(h->beat);
	h->beat = NULL;
	if (WIFEXITED(status) && WEXITSTATUS(status) == 1)
		return -1;
	if (status == 0)
		h->end = h->begun + h->lease;
	else /* it may go well in a moment */
		h->next = clock_ns() + h->lease / 12;
	return 0;
}

/* Until something happens. */
static void
nap(struct hold *h)
{
	int64_t until = h->beat || h->end < h->next ? h->end : h->next;
	struct pollfd fd[] = {{.fd = halt_fd(h->halt), .events = POLLIN},
	    {.fd = h->beat ? proc_fd(h->beat) : -1, .events = POLLIN},
	    {.fd = h->command ? proc_fd(h->command) : -1, .events = POLLIN}};

	poll(fd, 3, clock_left_ms(until) + 1);
}

/* 0: on with it; -1: an end, said or a signal. */
static int
step(struct hold *h)
{
	int status;

	if (halt_reason(h->halt, NULL))
		return -1;
	if (h->beat && proc_wait(h->beat, 0, &status) &&
	    end_beat(h, status) < 0)
		return -1;
	if (clock_ns() >= h->end)
		return err_fail("the claim could not be prolonged in time");
	if (!h->beat && clock_ns() >= h->next)
		return start_beat(h);
	return 0;
}

/* The first beat tells whether there is a claim at all. */
static int
first_beat(struct hold *h)
{
	int status;

	if (start_beat(h) < 0)
		return -1;
	while (!proc_wait(h->beat, 0, &status)) {
		h->end = clock_ns() + h->lease;
		nap(h);
		if (halt_reason(h->halt, NULL))
			return -1;
	}
	return end_beat(h, status) < 0 || status != 0 ? -1 : 0;
}

static int
watch(struct hold *h)
{
	int status, reason;

	while (!proc_wait(h->command, 0, &status)) {
		if (step(h) == 0) {
			nap(h);
			continue;
		}
		reason = halt_reason(h->halt, NULL);
		if (reason > 0) {
			proc_signal(h->command, reason);
			proc_wait(h->command, GRACE_MS, NULL);
		}
		proc_stop(h->command, GRACE_MS);
		return 125;
	}
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status)
				   : WEXITSTATUS(status);
}

static int
run(struct hold *h, const char *const *command)
{
	struct proc_spec spec = {
	    .argv = command, .group = true, .death_signal = SIGKILL};
	int rc = 125;

	if (first_beat(h) < 0 || !(spec.guard = guard_start()))
		return rc;
	h->command = proc_start(&spec);
	if (!h->command)
		rc = errno == ENOENT ? 127 : 126;
	else
		rc = watch(h);
	proc_free(h->command);
	guard_dismiss(spec.guard);
	return rc;
}

int
hold_run(const char *const *beat, const char *const *command, double lease)
{
	struct hold h = {.words = beat, .lease = (int64_t)(lease * 1e9)};
	int rc = 125, reason = 0;

	h.halt = halt_open(false);
	if (!h.halt)
		return rc;
	rc = run(&h, command);
	proc_free(h.beat);
	reason = halt_reason(h.halt, NULL);
	halt_close(h.halt);
	if (reason > 0)
		halt_raise(reason);
	return rc;
}
