/* What limited a run, and how long a thread waited for a CPU. */
#include "tap.h"

#include "json.h"
#include "vkb-load/meter/task.h"
#include "vkb-load/meter/watch.h"

#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
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
	tap_ok(bound(95, 95, 95, 99) == WATCH_SERVER,
	    "both are busy: the server is the limit");
	tap_ok(bound(60, 60, 95, 99) == WATCH_CLIENT, "the client is busy");
	tap_ok(bound(60, 60, 50, 70) == WATCH_NEITHER, "neither is busy");
	tap_ok(bound(50, 97, 30, 40) == WATCH_SERVER,
	    "the server waited for a CPU");
	tap_ok(bound(30, 40, 50, 97) == WATCH_CLIENT,
	    "the client waited for a CPU");
	tap_ok(bound(60, 97, 40, 98) == WATCH_SERVER,
	    "both waited, the server was busier");
	tap_ok(bound(40, 97, 60, 98) == WATCH_CLIENT,
	    "both waited, the client was busier");
	tap_ok(bound(90, 90, 0, 0) == WATCH_SERVER &&
		bound(89.9, 89.9, 0, 0) == WATCH_NEITHER,
	    "a server that used 90 %% of a CPU is the limit");
	tap_ok(bound(0, 0, 90, 90) == WATCH_CLIENT &&
		bound(0, 0, 89.9, 89.9) == WATCH_NEITHER,
	    "a client that used 90 %% of a CPU is the limit");
	tap_ok(bound(50, 90, 0, 0) == WATCH_SERVER &&
		bound(0, 0, 50, 90) == WATCH_CLIENT,
	    "one that waited as much is the limit");
	tap_ok(bound(50, 90, 50, 90) == WATCH_SERVER,
	    "if both waited equally, the server is the limit");
	tap_ok(bound(NAN, NAN, 50, 97) == WATCH_CLIENT,
	    "without values of the server a client that waited is the limit");
	tap_ok(bound(NAN, NAN, 50, NAN) == WATCH_UNKNOWN &&
		bound(NAN, NAN, 50, 60) == WATCH_UNKNOWN &&
		bound(50, 60, NAN, NAN) == WATCH_UNKNOWN,
	    "if one side is unknown and the other is not busy, the limit is "
	    "unknown");
}

/* A server on another host: its CPU time is unknown, and not 100 %. */
static void
remote_server(void)
{
	struct engine_node node = {.pid = 0};
	struct engine_target t = {.nodes = &node, .nnodes = 1};
	struct watch *w = watch_new(&t);
	struct engine_meter meter = watch_meter(w);
	struct watch_cost r;
	pid_t self = getpid();

	meter.connected(meter.arg, &self, 1);
	watch_begin(w);
	for (int i = 0; i < 3; i++)
		nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
	watch_end(w);
	watch_report(w, &(struct watch_load){.requests = 1000}, &r);
	tap_ok(isnan(r.server_busy_percent) && isnan(r.server_cpu_us_per_req),
	    "the CPU time of a remote server is unknown");
	/* The client, if it had to wait for a CPU of a busy machine. */
	tap_ok(r.bound == WATCH_UNKNOWN || r.bound == WATCH_CLIENT,
	    "a server on another host is not named as the limit");
	watch_cost_free(&r);
	watch_free(w);
}

/* Two processes on one CPU that never rest: each waits while the other runs. */
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
	waited = task_process_time(pids[0]).waited_ns;
	tap_ok(waited > ran / 4, "a process waits for its CPU");
	tap_ok(task_thread_time(pids[0], pids[0]).waited_ns >= waited,
	    "its only thread waited as long");
	for (i = 0; i < 2; i++) {
		kill(pids[i], SIGKILL);
		waitpid(pids[i], NULL, 0);
	}
	tap_ok(isnan(task_process_time(pids[0]).waited_ns) &&
		isnan(task_thread_time(pids[0], pids[0]).waited_ns),
	    "a process that has ended is unknown");
}

/* Bounds of a number: what was surely within the watched time, and what was in
 * a slightly longer time. */
struct bounds {
	double lo, hi;
};

/* Readings of the kernel before and after watch_begin and watch_end. */
enum reading { WALL, THREAD, PROCESS, CHILD, SWITCHES, READINGS };

struct readings {
	double v[4][READINGS];
};

static double
read_clock(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void
read_all(struct readings *r, int at, pid_t child)
{
	clockid_t clock = CLOCK_MONOTONIC;
	struct rusage usage;

	if (child)
		clock_getcpuclockid(child, &clock);
	getrusage(RUSAGE_THREAD, &usage);
	r->v[at][WALL] = read_clock(CLOCK_MONOTONIC);
	r->v[at][THREAD] = read_clock(CLOCK_THREAD_CPUTIME_ID);
	r->v[at][PROCESS] = read_clock(CLOCK_PROCESS_CPUTIME_ID);
	r->v[at][CHILD] = read_clock(clock);
	r->v[at][SWITCHES] = (double)usage.ru_nvcsw;
}

/* schedstat is updated with each tick: 10 ms more or less. */
static struct bounds
bounds_of(const struct readings *r, enum reading what)
{
	double slack = what == SWITCHES ? 0 : 1e7;

	return (struct bounds){r->v[2][what] - r->v[1][what] - slack,
	    r->v[3][what] - r->v[0][what] + slack};
}

static struct bounds
divide(struct bounds a, struct bounds b, double factor)
{
	return (struct bounds){factor * a.lo / b.hi, factor * a.hi / b.lo};
}

static void
check_within(double v, struct bounds b, const char *what)
{
	if (!tap_ok(v >= b.lo && v <= b.hi, "%s", what))
		printf("# %g is not within %g .. %g\n", v, b.lo, b.hi);
}

static void
burn(clockid_t clock, double ns)
{
	double end = read_clock(clock) + ns;

	while (read_clock(clock) < end)
		;
}

/* Of two servers one is this process. */
static void
partly_remote(void)
{
	pid_t self = getpid();
	struct engine_node nodes[2] = {{.pid = self}, {.pid = 0}};
	struct engine_target t = {.nodes = nodes, .nnodes = 2};
	struct watch *w = watch_new(&t);
	struct engine_meter meter = watch_meter(w);
	struct watch_cost r;
	double ns;

	meter.connected(meter.arg, &self, 1);
	watch_begin(w);
	ns = read_clock(CLOCK_THREAD_CPUTIME_ID);
	burn(CLOCK_THREAD_CPUTIME_ID, 1e8);
	ns = read_clock(CLOCK_THREAD_CPUTIME_ID) - ns;
	watch_end(w);
	watch_report(w, &(struct watch_load){.requests = 1000}, &r);
	tap_ok(isnan(r.server_busy_percent) && isnan(r.server_cpu_us_per_req) &&
		isnan(r.memory_mb),
	    "if one server is elsewhere, the sum of all is unknown");
	/* Its thread is the client, too. */
	tap_ok(watch_spent_ns(w) > 1.5 * ns,
	    "what a server on this host used is not other programs' time");
	watch_cost_free(&r);
	watch_free(w);
}

struct helper {
	int to[2], from[2];
};

/* Burns 150 ms of CPU time, and answers each byte. */
static void *
help(void *arg)
{
	struct helper *h = arg;
	char c;

	burn(CLOCK_THREAD_CPUTIME_ID, 1.5e8);
	while (read(h->to[0], &c, 1) == 1 && write(h->from[1], &c, 1) == 1)
		;
	return NULL;
}

/*
 * This process is server and client. Its first thread is the client: it burns
 * 300 ms of CPU time and waits 100 times; another thread burns 150 ms.
 */
static void
costs(void)
{
	pid_t self = getpid();
	struct engine_node node = {.pid = self};
	struct engine_target t = {.nodes = &node, .nnodes = 1};
	struct watch_cost r;
	struct watch *w = watch_new(&t);
	struct engine_meter meter = watch_meter(w);
	struct bounds wall, client, server, busy;
	struct readings at;
	struct helper h;
	pthread_t thread;
	double resident, sum = 0;
	char c = 0;

	if (pipe(h.to) < 0 || pipe(h.from) < 0)
		return;
	meter.connected(meter.arg, &self, 1);
	burn(CLOCK_THREAD_CPUTIME_ID, 5e7); /* before the watched time */
	read_all(&at, 0, 0);
	watch_begin(w);
	read_all(&at, 1, 0);
	pthread_create(&thread, NULL, help, &h);
	burn(CLOCK_THREAD_CPUTIME_ID, 3e8);
	for (int i = 0; i < 100; i++)
		if (write(h.to[1], &c, 1) != 1 || read(h.from[0], &c, 1) != 1)
			break;
	resident = task_resident_mb(self);
	read_all(&at, 2, 0);
	watch_end(w);
	read_all(&at, 3, 0);
	close(h.to[1]);
	pthread_join(thread, NULL);
	watch_report(w, &(struct watch_load){.requests = 1000}, &r);
	wall = bounds_of(&at, WALL);
	client = bounds_of(&at, THREAD);
	server = bounds_of(&at, PROCESS);
	busy = divide(client, wall, 100);
	busy.hi = fmin(busy.hi, 100);
	check_within(r.client_cpu_us_per_req,
	    (struct bounds){client.lo / 1e6, client.hi / 1e6},
	    "the CPU time of the client is that of its thread, in us per "
	    "request");
	check_within(r.server_cpu_us_per_req,
	    (struct bounds){server.lo / 1e6, server.hi / 1e6},
	    "the CPU time of the server is that of all its threads");
	check_within(r.client_busy_percent, busy,
	    "the client is busy while its thread runs");
	check_within(r.server_busy_percent, busy,
	    "the server is busy while its first thread runs");
	tap_near(
	    r.memory_mb, resident, .1, "the memory is the resident memory");
	tap_ok(isnan(json_get_num(r.machine, "steal_percent", NAN)) ||
		(json_get_num(r.machine, "steal_percent", NAN) >= 0 &&
		    json_get_num(r.machine, "steal_percent", NAN) <= 100),
	    "the time that the host took is a share");
	tap_ok(isnan(json_get_num(r.machine, "foreign_cpu_percent", NAN)) ||
		(json_get_num(r.machine, "foreign_cpu_percent", NAN) >= 0 &&
		    json_get_num(r.machine, "foreign_cpu_percent", NAN) <= 100),
	    "the time that other programs used is a share");
	check_within(json_get_num(r.sampled, "cpu_avg_percent", NAN),
	    divide(server, wall, 100), "CPU of the server in percent of one");
	check_within(
	    json_get_num(r.sampled, "client_voluntary_switches_per_s", NAN),
	    divide(bounds_of(&at, SWITCHES), wall, 1e9),
	    "the context switches of the client are those per second");
	tap_ok(json_get_num(r.sampled, "client_voluntary_switches_per_s", 0) <
		json_get_num(r.sampled, "server_voluntary_switches_per_s", 0),
	    "the server has more context switches, since all its threads "
	    "count");
	check_within(json_num(json_at(json_get(r.samples, "at_s"),
				  json_len(json_get(r.samples, "at_s")) - 1),
			 NAN),
	    (struct bounds){wall.lo / 1e9, wall.hi / 1e9},
	    "the last sample is at the end, in seconds");
	for (const struct json *j = json_first(json_get(r.samples, "threads"));
	     j; j = json_next(j))
		if (json_get_num(j, "pid", 0) == self)
			sum = fmax(sum, json_get_num(j, "cpu_percent", 0));
	check_within(sum, divide(client, wall, 100),
	    "the CPU share of the busiest thread is that of the first thread");
	check_within(json_get_num(r.samples, "cost_percent", NAN),
	    (struct bounds){
		1e-4, 100 * (server.hi - client.lo - 1.4e8) / wall.lo},
	    "the cost of sampling is less than the rest of the CPU time");
	watch_cost_free(&r);
	/* In slices in which the load ran for 4 s: 300 ms are about 7.5 %. */
	watch_report(
	    w, &(struct watch_load){.requests = 1000, .active_s = 4}, &r);
	tap_near(r.client_busy_percent, r.client_cpu_us_per_req / 40, 1e-9,
	    "in slices the client's share is that of its active time");
	check_within(r.server_busy_percent,
	    (struct bounds){client.lo / 4e7, client.hi / 4e7},
	    "in slices the server's share is that of its active time");
	tap_ok(!json_len(r.samples), "in slices there are no samples");
	watch_cost_free(&r);
	watch_report(w, &(struct watch_load){.requests = 0}, &r);
	tap_ok(isnan(r.client_cpu_us_per_req) &&
		isnan(r.server_cpu_us_per_req) &&
		isnan(r.client_cycles_per_req),
	    "without requests there is no cost per request");
	watch_cost_free(&r);
	watch_free(w);
	close(h.to[0]);
	close(h.from[0]);
	close(h.from[1]);
}

/* The client is another program with two threads, and there is no server on
 * this host. */
static void
child_costs(void)
{
	struct engine_node node = {.pid = 0};
	struct engine_target t = {.nodes = &node, .nnodes = 1};
	struct watch_cost r;
	struct bounds wall, client;
	struct readings at;
	clockid_t clock;
	struct watch *w;
	pid_t pid;

	w = watch_child(&t, 2);
	read_all(&at, 0, 0);
	watch_begin(w);
	read_all(&at, 1, 0);
	pid = fork();
	if (pid == 0)
		for (volatile int spin = 0;; spin = !spin)
			continue;
	clock_getcpuclockid(pid, &clock);
	watch_set_child(w, pid);
	at.v[0][CHILD] = at.v[1][CHILD] = 0;
	while (read_clock(clock) < at.v[1][CHILD] + 2e8)
		;
	read_all(&at, 2, pid);
	watch_end(w);
	read_all(&at, 3, pid);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	watch_report(w, &(struct watch_load){.requests = 500}, &r);
	wall = bounds_of(&at, WALL);
	client = bounds_of(&at, CHILD);
	check_within(r.client_cpu_us_per_req,
	    (struct bounds){client.lo / 5e5, client.hi / 5e5},
	    "the CPU time of a program that starts after the watch is all that "
	    "its process used");
	check_within(r.client_busy_percent, divide(client, wall, 50),
	    "each of its two threads was busy for half of that time");
	tap_ok(isnan(r.server_cpu_us_per_req) && isnan(r.server_busy_percent) &&
		isnan(r.memory_mb) && !json_get(r.sampled, "cpu_avg_percent"),
	    "nothing is known about a server on another host");
	watch_cost_free(&r);
	watch_free(w);
}

int
main(void)
{
	verdicts();
	remote_server();
	partly_remote();
	waits();
	costs();
	child_costs();
	return tap_done();
}
