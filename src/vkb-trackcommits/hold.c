#include "hold.h"

#include "clock.h"
#include "err.h"
#include "halt.h"
#include "proc.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/wait.h>

#define GRACE_MS 10000

struct hold {
	const char *const *heartbeat; /* its arguments */
	struct proc *beat, *command;
	struct halt *halt;
	int64_t lease; /* ns */
	int64_t next;  /* time of the next heartbeat, ns */
	int64_t end;   /* end of the claim, ns */
	int64_t begun; /* start of the running heartbeat, ns */
};

static int
start_beat(struct hold *h)
{
	const struct proc_spec spec = {
	    .argv = h->heartbeat, .death_signal = SIGKILL};

	h->begun = clock_ns();
	h->next = h->begun + h->lease / 3;
	h->beat = proc_start(&spec);
	return h->beat ? 0 : -1;
}

/* Handles the end of a heartbeat. Returns 0, or -1 if the claim is lost, which
 * the heartbeat has reported. */
static int
end_beat(struct hold *h, int status)
{
	proc_free(h->beat);
	h->beat = NULL;
	if (WIFEXITED(status) && WEXITSTATUS(status) == 1)
		return -1;
	if (status == 0)
		h->end = h->begun + h->lease;
	else /* retry soon */
		h->next = clock_ns() + h->lease / 12;
	return 0;
}

static void
wait_for_event(struct hold *h)
{
	int64_t until = h->beat || h->end < h->next ? h->end : h->next;
	struct pollfd fd[] = {{.fd = halt_fd(h->halt), .events = POLLIN},
	    {.fd = h->beat ? proc_fd(h->beat) : -1, .events = POLLIN},
	    {.fd = h->command ? proc_fd(h->command) : -1, .events = POLLIN}};

	poll(fd, 3, clock_left_ms(until) + 1);
}

/* Starts heartbeats. Returns 0, or -1 if the command must stop: by a signal, or
 * after reporting an error. */
static int
check_claim(struct hold *h)
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

/* Runs the first heartbeat, which fails if there is no claim. */
static int
first_beat(struct hold *h)
{
	int status;

	if (start_beat(h) < 0)
		return -1;
	while (!proc_wait(h->beat, 0, &status)) {
		h->end = clock_ns() + h->lease;
		wait_for_event(h);
		if (halt_reason(h->halt, NULL))
			return -1;
	}
	return end_beat(h, status) < 0 || status != 0 ? -1 : 0;
}

static int
wait_for_command(struct hold *h)
{
	int status, reason;

	while (!proc_wait(h->command, 0, &status)) {
		if (check_claim(h) == 0) {
			wait_for_event(h);
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
	return proc_exit_status(status);
}

static int
run_under_claim(struct hold *h, const char *const *command)
{
	struct proc_spec spec = {
	    .argv = command, .group = true, .death_signal = SIGKILL};
	int rc = 125;

	if (first_beat(h) < 0)
		return rc;
	h->command = proc_start(&spec);
	if (!h->command)
		rc = errno == ENOENT ? 127 : 126;
	else
		rc = wait_for_command(h);
	proc_free(h->command);
	return rc;
}

int
hold_run_command(
    const char *const *beat, const char *const *command, double lease)
{
	struct hold h = {.heartbeat = beat, .lease = (int64_t)(lease * 1e9)};
	int rc = 125;

	h.halt = halt_open(false);
	if (!h.halt)
		return rc;
	rc = run_under_claim(&h, command);
	proc_free(h.beat);
	halt_finish(h.halt);
	return rc;
}
