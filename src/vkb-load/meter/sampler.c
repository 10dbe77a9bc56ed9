#include "sampler.h"
#include "clock.h"
#include "machine.h"
#include "mem.h"
#include "machinestate.h"
#include "task.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#define PERIOD_NS SAMPLED_PERIOD_NS

struct sampler {
	struct sampled data;
	const pid_t *tids;
	size_t ntids, cap;
	const _Atomic pid_t *child;
	bool whole; /* /proc/stat shows the whole machine */
	int stop;   /* eventfd */
	bool started;
	pthread_t thread;
};

struct sampler *
sampler_new(const pid_t *servers, size_t nservers, const pid_t *tids,
    size_t ntids, const _Atomic pid_t *child)
{
	struct sampler *s = mem_new(sizeof *s);

	*s = (struct sampler){.data.servers = servers,
	    .data.nservers = nservers,
	    .tids = tids,
	    .ntids = ntids,
	    .child = child,
	    .whole = machine_stat_is_whole(""),
	    .stop = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
	return s;
}

static void
stop_thread(struct sampler *s)
{
	if (!s->started)
		return;
	eventfd_write(s->stop, 1);
	pthread_join(s->thread, NULL);
	s->started = false;
}

void
sampler_free(struct sampler *s)
{
	if (!s)
		return;
	stop_thread(s);
	for (size_t i = 0; i < s->data.n; i++)
		free(s->data.readings[i].cpus.cpu);
	for (int i = 0; i < 2; i++)
		cgroup_free(&s->data.group[i]);
	if (s->stop >= 0)
		close(s->stop);
	free(s->data.readings);
	free(s->data.threads);
	free(s);
}

static void
take_reading(struct sampler *s)
{
	struct machine_state_clocks clocks;
	struct sampled_reading *t;
	size_t i;

	s->data.readings = mem_grow(
	    s->data.readings, s->data.n, &s->cap, sizeof *s->data.readings);
	t = &s->data.readings[s->data.n++];
	*t = (struct sampled_reading){.at_ns = clock_ns(),
	    .server_ns = s->data.nservers ? 0 : NAN,
	    .memory_mb = s->data.nservers ? 0 : NAN,
	    .client_ns = s->child && *s->child ? task_process_ns(*s->child) : 0,
	    .cpus.whole = {NAN, NAN, NAN}};
	for (i = 0; i < s->data.nservers; i++) {
		t->server_ns += task_process_ns(s->data.servers[i]);
		t->memory_mb += task_resident_mb(s->data.servers[i]);
	}
	for (i = 0; !s->child && i < s->ntids; i++)
		t->client_ns += task_thread_time(getpid(), s->tids[i]).ran_ns;
	if (s->whole)
		cpustat_read(&t->cpus, "");
	machine_state_clocks("", &clocks);
	t->freq_mhz = clocks.mean_mhz;
	t->temperature_c = machine_state_temperature("");
}

/* Takes readings on a fixed schedule; missed ones are skipped. */
static void *
run_sampler(void *arg)
{
	struct sampler *s = arg;
	struct pollfd fd = {.fd = s->stop, .events = POLLIN};
	int64_t next = s->data.readings[0].at_ns + PERIOD_NS;
	struct timespec t;

	for (;;) {
		int k = poll(&fd, 1, clock_left_ms(next));

		if (k > 0 || (k < 0 && errno != EINTR))
			break;
		if (clock_ns() < next)
			continue;
		take_reading(s);
		while (next <= s->data.readings[s->data.n - 1].at_ns)
			next += PERIOD_NS;
	}
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	s->data.cost_ns = (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
	return NULL;
}

/* Reads what is only needed at both ends. */
static void
take_end_reading(struct sampler *s, int at)
{
	size_t i;

	for (i = 0; i < s->data.nservers; i++)
		task_process_switches(s->data.servers[i], &s->data.server[at]);
	if (s->child && *s->child)
		task_process_switches(*s->child, &s->data.client[at]);
	for (i = 0; !s->child && i < s->ntids; i++)
		task_thread_switches(getpid(), s->tids[i], &s->data.client[at]);
	s->data.throttles[at] = machine_state_throttles("");
	cgroup_read(&s->data.group[at], "");
	for (i = 0; i < s->data.nservers; i++)
		task_read_threads(s->data.servers[i], at == 1, &s->data.threads,
		    &s->data.nthreads);
}

void
sampler_begin(struct sampler *s)
{
	take_reading(s);
	take_end_reading(s, 0);
	s->started = s->stop >= 0 &&
	    pthread_create(&s->thread, NULL, run_sampler, s) == 0;
}

void
sampler_end(struct sampler *s)
{
	stop_thread(s);
	take_reading(s);
	take_end_reading(s, 1);
}

const struct sampled *
sampler_data(const struct sampler *s)
{
	return &s->data;
}
