/*
 * halt: stops a process for a while at the start of every second, by SIGSTOP
 * and SIGCONT, and lets it go on when it ends. A stop that comes late, on a
 * busy machine, is as long as the others. Says on stdout for how long it was
 * stopped on average.
 */
#include "clock.h"
#include "err.h"
#include "opt.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>

#define SECOND_NS INT64_C(1000000000)

struct opts {
	double pause;
	long long cycles;
};

static const struct opt table[] = {
    {0, "pause", OPT_DURATION, offsetof(struct opts, pause), "TIME",
	.help = "stopped in each second"},
    {0, "cycles", OPT_INT, offsetof(struct opts, cycles), "N", .min = 1,
	.max = 1e6, .help = "seconds in all"},
    {0}};

static void
until(int64_t ns)
{
	struct timespec t = {
	    .tv_sec = ns / SECOND_NS, .tv_nsec = ns % SECOND_NS};

	while (
	    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) == EINTR)
		continue;
}

int
main(int argc, char **argv)
{
	static const struct opt_prog prog = {.name = "halt",
	    .operands = "PID",
	    .purpose = "stops a process again and again",
	    .table = table};
	struct opts o = {.pause = 0.2, .cycles = 10};
	struct opt_args args;
	int64_t at, stopped, sum = 0;
	long long i;
	pid_t pid;
	int rc;

	err_init(argv[0]);
	rc = opt_parse(&prog, argc, argv, &o, &args);
	if (rc)
		return rc < 0 ? 2 : 0;
	pid = args.n == 1 ? atoi(args.v[0]) : 0;
	if (pid <= 1 || o.pause >= 1)
		err_die("a process, and a pause below one second");
	prctl(PR_SET_TIMERSLACK, 1);
	at = clock_ns();
	for (i = 0; i < o.cycles; i++, at += SECOND_NS) {
		until(at);
		stopped = clock_ns();
		if (kill(pid, SIGSTOP) < 0)
			err_die(
			    "cannot stop %d: %s", (int)pid, strerror(errno));
		until(stopped + (int64_t)(o.pause * 1e9));
		if (kill(pid, SIGCONT) < 0)
			err_die("cannot go on: %s", strerror(errno));
		sum += clock_ns() - stopped;
	}
	printf("paused_ms %.3f\n", (double)sum / (double)o.cycles / 1e6);
	return 0;
}
