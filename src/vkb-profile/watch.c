#include "watch.h"
#include "calls.h"
#include "client.h"
#include "clock.h"
#include "err.h"
#include "halt.h"
#include "held.h"
#include "perf.h"

#include <math.h>
#include <poll.h>
#include <stdbool.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { ANSWER_MS = 2000 };

/* Returns the commands that the server has handled, without this one; NAN if
 * unknown. */
static double
count_requests(struct client *c)
{
	struct reply *r = CLIENT_CALL(c, ANSWER_MS, "INFO", "stats");
	double v = r ? reply_info_number(r, "total_commands_processed") : NAN;

	reply_free(r);
	return v;
}

struct client *
watch_open_server(int port)
{
	struct client_address a = {.host = "127.0.0.1", .port = port};
	struct client *c = client_open(&a, ANSWER_MS);

	if (!c || !isnan(count_requests(c)))
		return c;
	client_close(c);
	return NULL;
}

/*
 * Waits until the deadline (ns, or 0), the end of the process, or a signal.
 * Returns whether the deadline has come.
 */
static bool
wait_until(struct watch *w, int process, int64_t deadline)
{
	struct pollfd fd[4] = {{.fd = process, .events = POLLIN},
	    {.fd = halt_fd(w->halt), .events = POLLIN},
	    {.fd = w->sampler ? perf_fd(w->sampler) : -1, .events = POLLIN},
	    {.fd = w->counters ? perf_fd(w->counters) : -1, .events = POLLIN}};
	int left = -1;

	for (;;) {
		if (deadline) {
			left = clock_left_ms(deadline);
			if (!left)
				return true;
		}
		if (poll(fd, 4, left) <= 0)
			continue;
		if (halt_reason(w->halt, NULL) || fd[0].revents)
			return false;
		/* perf ends when the last thread has ended. */
		if (fd[2].revents || fd[3].revents)
			return false;
	}
}

static int64_t
make_deadline(double seconds)
{
	return seconds > 0 ? clock_ns() + (int64_t)(seconds * 1e9) : 0;
}

/* Returns 0; 1 if a perf has ended, which perf_end will explain; -1 after
 * reporting an error. */
static int
control_all(struct watch *w, bool on)
{
	int rc = w->sampler ? perf_control(w->sampler, on) : 0;

	if (rc == 0 && w->counters)
		rc = perf_control(w->counters, on);
	if (rc == 0 && w->calls)
		rc = calls_control(w->calls, on);
	return rc;
}

static double
watch_process(struct watch *w, int process)
{
	double s, handled = NAN;
	int64_t from;

	if (w->delay > 0) {
		if (w->held)
			held_release(w->held);
		if (!wait_until(w, process, make_deadline(w->delay)))
			return err_fail("nothing was profiled: %s before the "
					"delay was over",
			    halt_reason(w->halt, NULL) ? "stopped"
						       : "the process ended");
	}
	if (control_all(w, true) != 0)
		return -1;
	if (w->server)
		handled = count_requests(w->server);
	if (w->announce)
		err_say("watching process %ld", (long)w->pid);
	from = clock_ns();
	if (w->held)
		held_release(w->held);
	wait_until(w, process, make_deadline(w->duration));
	s = (double)(clock_ns() - from) / 1e9;
	/* The second INFO counts the first one too. */
	w->requests = w->server ? count_requests(w->server) - handled - 1 : NAN;
	if (control_all(w, false) < 0)
		return -1;
	return s;
}

double
watch_run(struct watch *w)
{
	int fd = w->held ? held_fd(w->held)
			 : (int)syscall(SYS_pidfd_open, w->pid, 0);
	double s;

	if (fd < 0)
		return err_fail_sys("cannot profile process %ld", (long)w->pid);
	s = watch_process(w, fd);
	if (!w->held)
		close(fd);
	/* End both in any case, so that they write their data. */
	if (w->sampler && perf_end(w->sampler) < 0)
		s = -1;
	if (w->counters && perf_end(w->counters) < 0)
		s = -1;
	return s < 0 ? err_fail("cannot profile process %ld", (long)w->pid) : s;
}
