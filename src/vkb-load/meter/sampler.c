#include "sampler.h"
#include "clock.h"
#include "json.h"
#include "machine.h"
#include "mem.h"
#include "task.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#define CORES 16 /* cores with a metric; all are in the time series */

struct sampler {
	struct sampler_data data;
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
	struct sampler_reading *t;
	size_t i;

	t = MEM_ADD(s->data.readings, s->data.n, s->cap);
	*t = (struct sampler_reading){.at_ns = clock_ns(),
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
	int64_t next = s->data.readings[0].at_ns + SAMPLER_PERIOD_NS;
	struct timespec t;

	for (;;) {
		int k = poll(&fd, 1, clock_left_ms(next));

		if (k > 0 || (k < 0 && errno != EINTR))
			break;
		if (clock_ns() < next)
			continue;
		take_reading(s);
		while (next <= s->data.readings[s->data.n - 1].at_ns)
			next += SAMPLER_PERIOD_NS;
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

const struct sampler_data *
sampler_data(const struct sampler *s)
{
	return &s->data;
}

size_t
sampler_intervals(const struct sampler_reading *r, size_t n, size_t *ends)
{
	size_t k = 0, from = 0;

	for (size_t i = 1; i < n; i++)
		if (r[i].at_ns - r[from].at_ns >= SAMPLER_PERIOD_NS / 2)
			ends[k++] = from = i;
		else if (i + 1 == n)
			ends[k ? k - 1 : k++] = i;
	return k;
}

/* Returns the first reading and the *n readings that end intervals. Caller
 * frees. */
static size_t *
make_intervals(const struct sampler_data *s, size_t *n)
{
	size_t *v = mem_array(s->n + 1, sizeof *v);

	*n = sampler_intervals(s->readings, s->n, v + 1);
	return v;
}

static double
compute_percent(double from_ns, double to_ns, const struct sampler_reading *a,
    const struct sampler_reading *b)
{
	double v = 100 * (to_ns - from_ns) / (double)(b->at_ns - a->at_ns);

	return v >= 0 ? v : NAN;
}

static double
get_server_percent(
    const struct sampler_reading *a, const struct sampler_reading *b)
{
	return compute_percent(a->server_ns, b->server_ns, a, b);
}

static double
get_core_percent(const struct sampler_reading *a,
    const struct sampler_reading *b, size_t cpu)
{
	if (cpu >= a->cpus.n || cpu >= b->cpus.n)
		return NAN;
	return cpustat_busy(&a->cpus.cpu[cpu], &b->cpus.cpu[cpu]);
}

static void
set_rate(struct json *j, const char *key, double from, double to, double s)
{
	if (to >= from)
		json_set_num(j, key, (to - from) / s);
}

static void
set_switches(struct json *m, const struct sampler_data *s, double seconds)
{
	set_rate(m, "server_voluntary_switches_per_s", s->server[0].voluntary,
	    s->server[1].voluntary, s->nservers ? seconds : NAN);
	set_rate(m, "server_involuntary_switches_per_s",
	    s->server[0].involuntary, s->server[1].involuntary,
	    s->nservers ? seconds : NAN);
	set_rate(m, "client_voluntary_switches_per_s", s->client[0].voluntary,
	    s->client[1].voluntary, seconds);
	set_rate(m, "client_involuntary_switches_per_s",
	    s->client[0].involuntary, s->client[1].involuntary, seconds);
}

/* Adds the load of the CPUs that the servers may use. */
static void
set_cores(struct json *m, const struct sampler_data *s)
{
	const struct sampler_reading *a = &s->readings[0],
				     *b = &s->readings[s->n - 1];
	char key[48];
	cpu_set_t all, one;
	int n = 0;

	CPU_ZERO(&all);
	for (size_t i = 0; i < s->nservers; i++)
		if (sched_getaffinity(s->servers[i], sizeof one, &one) == 0)
			CPU_OR(&all, &all, &one);
	for (size_t i = 0; i < CPU_SETSIZE && n < CORES; i++) {
		if (!CPU_ISSET(i, &all) || isnan(get_core_percent(a, b, i)))
			continue;
		snprintf(key, sizeof key, "cpu%zu_busy_percent", i);
		json_set_num(m, key, get_core_percent(a, b, i));
		n++;
	}
}

struct json *
sampler_metrics(const struct sampler_data *s)
{
	struct json *m = json_object();
	double peak = NAN, seconds, peak_mb = 0;
	const struct sampler_reading *a, *b;
	size_t n, *v;

	if (s->n < 2)
		return m;
	a = &s->readings[0];
	b = &s->readings[s->n - 1];
	seconds = (double)(b->at_ns - a->at_ns) / 1e9;
	v = make_intervals(s, &n);
	for (size_t i = 1; i <= n; i++)
		peak = fmax(peak,
		    get_server_percent(
			&s->readings[v[i - 1]], &s->readings[v[i]]));
	free(v);
	for (size_t i = 0; i < s->nservers; i++)
		peak_mb += task_peak_mb(s->servers[i]);
	json_set_num(m, "cpu_avg_percent", get_server_percent(a, b));
	json_set_num(m, "cpu_peak_percent", peak);
	json_set_num(m, "memory_peak_mb", s->nservers ? peak_mb : NAN);
	set_switches(m, s, seconds);
	return m;
}

struct json *
sampler_machine(const struct sampler_data *s)
{
	struct json *m = json_object();
	double freq = 0, heat = NAN, seconds;

	if (s->n < 2)
		return m;
	seconds =
	    (double)(s->readings[s->n - 1].at_ns - s->readings[0].at_ns) / 1e9;
	for (size_t i = 0; i < s->n; i++) {
		freq += s->readings[i].freq_mhz;
		heat = fmax(heat, s->readings[i].temperature_c);
	}
	json_set_num(m, "freq_mhz", freq / (double)s->n);
	json_set_num(m, "temperature_c", heat);
	set_rate(m, "thermal_throttles", s->throttles[0], s->throttles[1], 1);
	if (isfinite(s->group[1].cpus))
		set_rate(m, "cgroup_throttled_percent",
		    100 * s->group[0].throttled_s,
		    100 * s->group[1].throttled_s, seconds);
	set_cores(m, s);
	return m;
}

/* Adds a value to a column, which a gap makes shorter than others. */
static void
push_value(struct json *column, double v)
{
	json_push_num(column, round(v * 100) / 100);
}

/* Sets a list, which is taken, if it has at least 'least' elements. */
static void
set_list(struct json *to, const char *name, struct json *list, size_t least)
{
	if (json_len(list) >= least)
		json_set(to, name, list);
	else
		json_free(list);
}

/*
 * Sets the columns of the n intervals that end at the readings v[1] to v[n].
 * All have the same length; a column with a gap is left out.
 */
static void
set_columns(
    struct json *to, const struct sampler_data *s, const size_t *v, size_t n)
{
	static const char *const names[] = {"at_s", "server_cpu_percent",
	    "client_cpu_percent", "memory_mb", "freq_mhz", "temperature_c"};
	struct json *columns[6];

	for (size_t k = 0; k < 6; k++)
		columns[k] = json_array();
	for (size_t i = 1; i <= n; i++) {
		const struct sampler_reading *a = &s->readings[v[i - 1]];
		const struct sampler_reading *b = &s->readings[v[i]];

		push_value(columns[0],
		    (double)(b->at_ns - s->readings[0].at_ns) / 1e9);
		push_value(columns[1], get_server_percent(a, b));
		push_value(columns[2],
		    compute_percent(a->client_ns, b->client_ns, a, b));
		push_value(columns[3], b->memory_mb);
		push_value(columns[4], b->freq_mhz);
		push_value(columns[5], b->temperature_c);
	}
	for (size_t k = 0; k < 6; k++)
		set_list(to, names[k], columns[k], n);
}

static void
set_core_columns(
    struct json *to, const struct sampler_data *s, const size_t *v, size_t n)
{
	struct json *all = json_object(), *column;
	char name[24];

	for (size_t c = 0; c < s->readings[0].cpus.n; c++) {
		column = json_array();
		for (size_t i = 1; i <= n; i++)
			push_value(column,
			    get_core_percent(
				&s->readings[v[i - 1]], &s->readings[v[i]], c));
		snprintf(name, sizeof name, "%zu", c);
		set_list(all, name, column, n);
	}
	set_list(to, "core_busy_percent", all, 1);
}

static void
set_threads(struct json *to, const struct sampler_data *s, double ns)
{
	struct json *all = json_array(), *one;

	for (size_t i = 0; i < s->nthreads; i++) {
		const struct task_thread *t = &s->threads[i];
		double v = 100 * (t->end_ns - t->begin_ns) / ns;

		if (!(v >= 0))
			continue;
		one = json_object();
		json_set_num(one, "pid", t->pid);
		json_set_str(one, "name", t->name);
		json_set_num(one, "cpu_percent", round(v * 100) / 100);
		json_push(all, one);
	}
	set_list(to, "threads", all, 1);
}

struct json *
sampler_series(const struct sampler_data *s)
{
	struct json *to = json_object();
	size_t n, *v;
	double ns;

	if (s->n < 2)
		return to;
	v = make_intervals(s, &n);
	set_columns(to, s, v, n);
	set_core_columns(to, s, v, n);
	ns = (double)(s->readings[s->n - 1].at_ns - s->readings[0].at_ns);
	set_threads(to, s, ns);
	json_set_num(
	    to, "cost_percent", round(1e4 * 100 * s->cost_ns / ns) / 1e4);
	free(v);
	return to;
}

/* Returns the CPU time of all CPUs together between two readings, in ns. */
static double
get_machine_ns(const struct sampler_reading *a, const struct sampler_reading *b)
{
	return (double)(b->at_ns - a->at_ns) *
	    (double)sysconf(_SC_NPROCESSORS_ONLN);
}

double
sampler_steal_percent(
    const struct sampler_reading *a, const struct sampler_reading *b)
{
	double tick = 1e9 / (double)sysconf(_SC_CLK_TCK);

	return 100 * tick * (b->cpus.whole.steal - a->cpus.whole.steal) /
	    get_machine_ns(a, b);
}

double
sampler_foreign_percent(const struct sampler_reading *a,
    const struct sampler_reading *b, double own_ns)
{
	double tick = 1e9 / (double)sysconf(_SC_CLK_TCK);
	double ns = tick * (b->cpus.whole.busy - a->cpus.whole.busy) - own_ns;

	return isnan(ns) ? NAN : fmax(0, 100 * ns / get_machine_ns(a, b));
}
