#include "watch.h"
#include "clock.h"
#include "cpustat.h"
#include "json.h"
#include "machine.h"
#include "mem.h"
#include "sampler.h"
#include "task.h"
#include "vkb-load/engine/engine.h"

#include <linux/perf_event.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { CYCLES, INSTRUCTIONS, COUNTERS };

struct counters {
	int *fds; /* COUNTERS of each thread */
	size_t n;
	double begin[COUNTERS], end[COUNTERS];
};

struct sample {
	int64_t at_ns;
	struct task_time *clients;   /* threads */
	struct task_time *mains;     /* main threads of the servers */
	double server_ns, memory_mb; /* of all servers */
	struct cpustat_cpu machine;
};

struct watch {
	pid_t *tids, *pids;
	size_t ntids, npids;
	pid_t child; /* 0: the client is our own threads */
	int threads; /* of the child */
	struct counters client, server;
	struct sample begin, end;
	struct sampler *sampler;
};

static int
open_counter(pid_t tid, unsigned long long what)
{
	struct perf_event_attr a = {.type = PERF_TYPE_HARDWARE,
	    .size = sizeof a,
	    .config = what,
	    .inherit = 1,
	    .exclude_hv = 1,
	    .read_format = PERF_FORMAT_TOTAL_TIME_ENABLED |
		PERF_FORMAT_TOTAL_TIME_RUNNING};

	return (int)syscall(SYS_perf_event_open, &a, tid, -1, -1,
	    (unsigned long)PERF_FLAG_FD_CLOEXEC);
}

static void
close_counters(struct counters *c)
{
	size_t i;

	for (i = 0; i < c->n * COUNTERS; i++)
		if (c->fds[i] >= 0)
			close(c->fds[i]);
	free(c->fds);
	c->fds = NULL;
	c->n = 0;
}

static void
add_thread(struct counters *c, pid_t tid)
{
	static const unsigned long long what[] = {
	    PERF_COUNT_HW_CPU_CYCLES, PERF_COUNT_HW_INSTRUCTIONS};
	int i, fd;

	c->fds = mem_resize(c->fds, (c->n + 1) * COUNTERS, sizeof *c->fds);
	for (i = 0; i < COUNTERS; i++) {
		fd = open_counter(tid, what[i]);
		c->fds[c->n * COUNTERS + (size_t)i] = fd;
	}
	c->n++;
}

/* Returns NAN unless each thread was counted: a partial sum would be wrong. */
static double
read_counters(const struct counters *c, int which)
{
	uint64_t v[3];
	double sum = 0;
	size_t i;

	for (i = 0; i < c->n; i++) {
		if (read(c->fds[i * COUNTERS + (size_t)which], v, sizeof v) !=
		    sizeof v)
			return NAN;
		if (v[2])
			sum += (double)v[0] * (double)v[1] / (double)v[2];
		else if (v[1])
			return NAN; /* enabled, but never on the CPU's unit */
	}
	return c->n ? sum : NAN;
}

static void
take_sample(const struct watch *w, struct sample *s)
{
	struct cpustat cpus = {.whole = {NAN, NAN, NAN}};
	size_t i;

	s->at_ns = clock_ns();
	s->server_ns = s->memory_mb = w->npids ? 0 : NAN;
	for (i = 0; i < w->ntids; i++)
		s->clients[i] = w->child
		    ? task_process_time(w->child)
		    : task_thread_time(getpid(), w->tids[i]);
	for (i = 0; i < w->npids; i++) {
		s->server_ns += task_process_ns(w->pids[i]);
		s->mains[i] = task_thread_time(w->pids[i], w->pids[i]);
		s->memory_mb += task_resident_mb(w->pids[i]);
	}
	if (machine_stat_is_whole("")) /* else the load of others is unknown */
		cpustat_read(&cpus, "");
	s->machine = cpus.whole;
	free(cpus.cpu);
}

static void
add_process_threads(struct counters *c, pid_t pid)
{
	size_t n;
	pid_t *tids = task_list_threads(pid, &n);

	for (size_t i = 0; i < n; i++)
		add_thread(c, tids[i]);
	free(tids);
}

static void
init_sample(struct sample *s, const struct watch *w)
{
	s->clients = mem_array(w->ntids + 1, sizeof *s->clients);
	s->mains = mem_array(w->npids + 1, sizeof *s->mains);
}

static void
free_sample(struct sample *s)
{
	free(s->clients);
	free(s->mains);
}

struct watch *
watch_new(const struct engine_target *t)
{
	struct watch *w = mem_new(sizeof *w);
	size_t i;

	w->threads = 1;
	w->pids = mem_array(t->nnodes + 1, sizeof *w->pids);
	for (i = 0; i < t->nnodes; i++)
		if (t->nodes[i].pid > 0)
			w->pids[w->npids++] = t->nodes[i].pid;
	/* With a server on another host the sum would be incomplete. */
	for (i = 0; i < w->npids && w->npids == t->nnodes; i++)
		add_process_threads(&w->server, w->pids[i]);
	return w;
}

/* Watches a client with n threads, or a child with unknown threads. */
static void
watch_client(struct watch *w, const pid_t *tids, size_t n)
{
	w->tids = mem_array(n + 1, sizeof *w->tids);
	w->ntids = n;
	for (size_t i = 0; i < n && !w->child; i++) {
		w->tids[i] = tids[i];
		add_thread(&w->client, tids[i]);
	}
	init_sample(&w->begin, w);
	init_sample(&w->end, w);
	w->sampler =
	    sampler_new(w->pids, w->npids, tids, w->child ? 0 : n, w->child);
}

static void
on_connected(void *watch, const pid_t *tids, size_t n)
{
	watch_client(watch, tids, n);
}

static void
on_begin(void *watch)
{
	watch_begin(watch);
}

static void
on_end(void *watch)
{
	watch_end(watch);
}

struct engine_meter
watch_meter(struct watch *w)
{
	return (struct engine_meter){on_connected, on_begin, on_end, w};
}

struct watch *
watch_child(const struct engine_target *t, pid_t pid, int threads)
{
	struct watch *w = watch_new(t);

	w->child = pid;
	w->threads = threads;
	watch_client(w, NULL, 1);
	return w;
}

void
watch_free(struct watch *w)
{
	if (!w)
		return;
	close_counters(&w->client);
	close_counters(&w->server);
	sampler_free(w->sampler);
	free_sample(&w->begin);
	free_sample(&w->end);
	free(w->tids);
	free(w->pids);
	free(w);
}

void
watch_begin(struct watch *w)
{
	int i;

	for (i = 0; i < COUNTERS; i++) {
		w->client.begin[i] = read_counters(&w->client, i);
		w->server.begin[i] = read_counters(&w->server, i);
	}
	take_sample(w, &w->begin);
	sampler_begin(w->sampler);
}

void
watch_end(struct watch *w)
{
	int i;

	take_sample(w, &w->end);
	sampler_end(w->sampler);
	for (i = 0; i < COUNTERS; i++) {
		w->client.end[i] = read_counters(&w->client, i);
		w->server.end[i] = read_counters(&w->server, i);
	}
}

/* fmax and fmin would take the other number for one that is unknown. */
static double
max_known(double a, double b)
{
	return isnan(a) || isnan(b) ? NAN : fmax(a, b);
}

static double
limit_percent(double part, double whole)
{
	double v = 100 * part / whole;

	return isnan(v) ? NAN : fmin(v, 100);
}

/* The time of some threads between two samples; NAN: unknown, or none. */
struct spent {
	double sum_ns;
	double most_ns;   /* of the busiest thread */
	double wanted_ns; /* most that one ran or waited for a CPU */
};

static struct spent
compute_spent(const struct task_time *a, const struct task_time *b, size_t n)
{
	double none = n ? 0 : NAN, ran, waited;
	struct spent s = {none, none, none};

	for (size_t i = 0; i < n; i++) {
		ran = b[i].ran_ns - a[i].ran_ns;
		waited = b[i].waited_ns - a[i].waited_ns;
		s.sum_ns += ran;
		s.most_ns = max_known(s.most_ns, ran);
		s.wanted_ns = max_known(s.wanted_ns, ran + waited);
	}
	return s;
}

static double
compute_per_request(const struct counters *c, int which, double requests)
{
	double v = (c->end[which] - c->begin[which]) / requests;

	return v > 0 ? v
		     : NAN; /* a counter that stands still is not counting */
}

enum watch_bound
watch_bound(struct watch_busy server, struct watch_busy client)
{
	bool both;

	if (server.ran >= WATCH_BUSY_PERCENT)
		return WATCH_SERVER;
	if (client.ran >= WATCH_BUSY_PERCENT)
		return WATCH_CLIENT;
	both = server.wanted >= WATCH_BUSY_PERCENT &&
	    client.wanted >= WATCH_BUSY_PERCENT;
	if (both)
		return server.ran >= client.ran ? WATCH_SERVER : WATCH_CLIENT;
	if (server.wanted >= WATCH_BUSY_PERCENT)
		return WATCH_SERVER;
	if (client.wanted >= WATCH_BUSY_PERCENT)
		return WATCH_CLIENT;
	return isnan(server.ran) || isnan(client.ran) ? WATCH_UNKNOWN
						      : WATCH_NEITHER;
}

const char *
watch_bound_name(enum watch_bound bound)
{
	static const char *const names[] = {[WATCH_UNKNOWN] = NULL,
	    [WATCH_NEITHER] = "neither",
	    [WATCH_SERVER] = "server",
	    [WATCH_CLIENT] = "client"};

	return names[bound];
}

void
watch_report(const struct watch *w, uint64_t requests, struct watch_cost *r)
{
	double ns = (double)(w->end.at_ns - w->begin.at_ns);
	double cpus = (double)sysconf(_SC_NPROCESSORS_ONLN);
	double tick = 1e9 / (double)sysconf(_SC_CLK_TCK);
	double n = requests ? (double)requests : NAN;
	double server = w->end.server_ns - w->begin.server_ns;
	double foreign, threads_ns = w->threads * ns;
	struct spent client, mains;

	*r = (struct watch_cost){0};
	if (!w->sampler)
		return;
	client = compute_spent(w->begin.clients, w->end.clients, w->ntids);
	mains = compute_spent(w->begin.mains, w->end.mains, w->npids);
	r->client_cpu_us_per_req = client.sum_ns / 1e3 / n;
	r->client_busy_percent = limit_percent(client.most_ns, threads_ns);
	r->client_cycles_per_req = compute_per_request(&w->client, CYCLES, n);
	r->server_cpu_us_per_req = server / 1e3 / n;
	r->server_busy_percent = limit_percent(mains.most_ns, ns);
	r->server_cycles_per_req = compute_per_request(&w->server, CYCLES, n);
	r->server_instructions_per_req =
	    compute_per_request(&w->server, INSTRUCTIONS, n);
	r->memory_mb = w->end.memory_mb;
	r->sampled = sampler_metrics(w->sampler);
	r->samples = sampler_series(w->sampler);
	r->steal_percent = 100 * tick *
	    (w->end.machine.steal - w->begin.machine.steal) / (ns * cpus);
	foreign = tick * (w->end.machine.busy - w->begin.machine.busy) -
	    client.sum_ns - (w->npids ? server : 0);
	r->foreign_cpu_percent =
	    isnan(foreign) ? NAN : fmax(0, 100 * foreign / (ns * cpus));
	r->bound = watch_bound((struct watch_busy){r->server_busy_percent,
				   limit_percent(mains.wanted_ns, ns)},
	    (struct watch_busy){r->client_busy_percent,
		limit_percent(client.wanted_ns, threads_ns)});
}

void
watch_cost_free(struct watch_cost *c)
{
	json_free(c->sampled);
	json_free(c->samples);
	c->sampled = c->samples = NULL;
}
