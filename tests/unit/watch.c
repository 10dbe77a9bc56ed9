/* Which side was the limit of a run, and how long a thread waits for a CPU. */
#include "tap.h"

#include "vkb-load/meter/task.h"
#include "vkb-load/meter/watch.h"

#include <math.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static enum watch_bound
bound(double server_ran, double server_wanted, double client_ran,
    double client_wanted)
{
	return watch_bound((struct watch_busy){server_ran, server_wanted},
	    (struct watch_busy){client_ran, client_wanted});
}

static void
verdicts(void)
{
	tap_ok(bound(95, 95, 95, 99) == WATCH_SERVER, "the server comes first");
	tap_ok(bound(60, 60, 95, 99) == WATCH_CLIENT, "the client is busy");
	tap_ok(bound(60, 60, 50, 70) == WATCH_NEITHER, "both have time left");
	tap_ok(bound(50, 97, 30, 40) == WATCH_SERVER, "the server waits");
	tap_ok(bound(30, 40, 50, 97) == WATCH_CLIENT, "the client waits");
	tap_ok(bound(60, 97, 40, 98) == WATCH_SERVER,
	    "both wait, the server does more");
	tap_ok(bound(40, 97, 60, 98) == WATCH_CLIENT,
	    "both wait, the client does more");
	tap_ok(bound(90, 90, 0, 0) == WATCH_SERVER &&
		bound(89.9, 89.9, 0, 0) == WATCH_NEITHER,
	    "a server that used 90 %% of a CPU is the limit");
	tap_ok(bound(0, 0, 90, 90) == WATCH_CLIENT &&
		bound(0, 0, 89.9, 89.9) == WATCH_NEITHER,
	    "so is a client");
	tap_ok(bound(50, 90, 0, 0) == WATCH_SERVER &&
		bound(0, 0, 50, 90) == WATCH_CLIENT,
	    "or one that wanted as much");
	tap_ok(bound(50, 90, 50, 90) == WATCH_SERVER,
	    "the server is named where both are alike");
	tap_ok(bound(NAN, NAN, 50, 97) == WATCH_CLIENT, "no server is known");
	tap_ok(bound(NAN, NAN, 50, NAN) == WATCH_NEITHER, "nothing is known");
}

/* Two processes that never rest on one CPU: each waits while the other runs. */
static void
waits(void)
{
	cpu_set_t all, one;
	double ran, waited = 0;
	int cpu = 0, i;
	pid_t pids[2];

	sched_getaffinity(0, sizeof all, &all);
	while (!CPU_ISSET(cpu, &all))
		cpu++;
	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	for (i = 0; i < 2; i++) {
		pids[i] = fork();
		if (pids[i] == 0) {
			sched_setaffinity(0, sizeof one, &one);
			for (volatile int spin = 0;; spin = !spin)
				continue;
		}
	}
	do
		ran = task_process_ns(pids[0]);
	while (ran < 2e8);
	waited = task_process_wait_ns(pids[0]);
	tap_ok(waited > ran / 4, "a process waits for its CPU");
	tap_ok(task_thread_wait_ns(pids[0], pids[0]) >= waited,
	    "so does its only thread");
	for (i = 0; i < 2; i++) {
		kill(pids[i], SIGKILL);
		waitpid(pids[i], NULL, 0);
	}
	tap_ok(isnan(task_process_wait_ns(pids[0])) &&
		isnan(task_thread_wait_ns(pids[0], pids[0])),
	    "what is gone is not known");
}

int
main(void)
{
	verdicts();
	waits();
	return tap_done();
}
