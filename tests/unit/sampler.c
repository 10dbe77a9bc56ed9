#include "vkb-load/meter/sampler.h"
#include "json.h"
#include "tap.h"
#include "vkb-load/meter/task.h"

#include <poll.h>
#include <sched.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define MS 1000000
#define START INT64_C(7000000000)

/* Compares the ends of the intervals of readings that were made at these
 * times. */
static void
ends(const char *want, const int *ms, size_t n)
{
	struct sampler_reading at[16] = {0};
	size_t v[16] = {0}, k;
	char got[64] = "";

	for (size_t i = 0; i < n; i++)
		at[i].at_ns = (int64_t)ms[i] * MS;
	k = sampler_intervals(at, n, v);
	for (size_t i = 0; i < k; i++)
		snprintf(got + strlen(got), sizeof got - strlen(got), "%s%zu",
		    i ? " " : "", v[i]);
	tap_str(got, want, "intervals");
}

static void
is_list(const struct json *all, const char *name, const char *want)
{
	const struct json *list = json_get(all, name);
	char *text = list ? json_print(list) : NULL;

	tap_str(text, want, name);
	free(text);
}

static void
is_number(const struct json *all, const char *name, double want)
{
	tap_near(json_get_num(all, name, NAN), want, 1e-9, name);
}

/* Returns all metrics of a run. */
static struct json *
all_metrics(const struct sampler_data *s)
{
	struct json *all = sampler_metrics(s), *machine = sampler_machine(s);

	for (const struct json *j = json_first(machine); j; j = json_next(j))
		json_set(all, json_key(j), json_dup(j));
	json_free(machine);
	return all;
}

/* Readings whose metrics can be computed by hand. */
static void
figures(void)
{
	static struct cpustat_cpu cores[4][3] = {{{0, 0, 0}, {0, 0, 0}},
	    {{50, 0, 100}, {10, 0, 100}}, {{99, 0, 200}, {20, 0, 200}},
	    {{110, 0, 240}, {24, 0, 240}, {1, 0, 2}}};
	static struct sampler_reading v[4] = {
	    {START, 0, 0, 10, 1000, 40, {{100, 10, 0}, cores[0], 2}},
	    {START + 1000 * MS, 5e8, 0, 20, 2000, 70,
		{{200, 12, 0}, cores[1], 2}},
	    {START + INT64_C(2000) * MS, 2e9, 2e8, 30.126, 3000, NAN,
		{{300, 20, 0}, cores[2], 2}},
	    {START + INT64_C(2400) * MS, 2.1e9, 3e8, 40.456, 3000, 50,
		{{400, 22, 0}, cores[3], 3}}};
	static struct task_thread threads[] = {{7, 8, "a", 1e8, 1.3e9},
	    {7, 9, "gone", 1e8, NAN}, {6, 10, "b", 0, 1e7}};
	pid_t servers[] = {getpid(), getpid()};
	struct sampler_data s = {.servers = servers,
	    .nservers = 2,
	    .readings = v,
	    .n = 4,
	    .server = {{10, 1}, {34, 13}},
	    .client = {{2, 4}, {50, 10}},
	    .throttles = {3, 8},
	    .group = {{.throttled_s = 2}, {.cpus = 2, .throttled_s = 2.6}},
	    .threads = threads,
	    .nthreads = 3,
	    .cost_ns = 1234500};
	double cpus = (double)sysconf(_SC_NPROCESSORS_ONLN);
	double tick = 1e7 * 100 / (double)sysconf(_SC_CLK_TCK);
	double least = task_peak_mb(getpid()), peak;
	static const char *const names[] = {
	    "cpu0_busy_percent", "cpu1_busy_percent", "cpu2_busy_percent"};
	static const double busy[] = {11000 / 240., 10, NAN};
	struct json *m, *c;
	cpu_set_t own, one;
	int cpu = 0;

	/* If servers have one CPU, the load of other programs is not
	 * reported. */
	sched_getaffinity(0, sizeof own, &own);
	while (!CPU_ISSET(cpu, &own))
		cpu++;
	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	sched_setaffinity(0, sizeof one, &one);
	m = all_metrics(&s);
	c = sampler_series(&s);
	sched_setaffinity(0, sizeof own, &own);
	is_number(m, "cpu_avg_percent", 87.5);
	is_number(m, "cpu_peak_percent", 160 / 1.4);
	peak = json_get_num(m, "memory_peak_mb", NAN);
	tap_ok(peak >= 2 * least && peak <= 2 * task_peak_mb(getpid()),
	    "the memory peak is that of all servers");
	is_number(m, "server_voluntary_switches_per_s", 10);
	is_number(m, "server_involuntary_switches_per_s", 5);
	is_number(m, "client_voluntary_switches_per_s", 20);
	is_number(m, "client_involuntary_switches_per_s", 2.5);
	is_number(m, "freq_mhz", 2250);
	is_number(m, "temperature_c", 70);
	is_number(m, "thermal_throttles", 5);
	is_number(m, "cgroup_throttled_percent", 25);
	for (int i = 0; i < 3; i++)
		is_number(m, names[i], CPU_ISSET(i, &one) ? busy[i] : NAN);
	is_list(c, "at_s", "[1,2.4]");
	is_list(c, "server_cpu_percent", "[50,114.29]");
	is_list(c, "client_cpu_percent", "[0,21.43]");
	is_list(c, "memory_mb", "[20,40.46]");
	is_list(c, "freq_mhz", "[2000,3000]");
	is_list(c, "temperature_c", "[70,50]");
	is_list(c, "core_busy_percent", "{\"0\":[50,42.86],\"1\":[10,10]}");
	is_list(c, "threads",
	    "[{\"pid\":7,\"name\":\"a\",\"cpu_percent\":50},"
	    "{\"pid\":6,\"name\":\"b\",\"cpu_percent\":0.42}]");
	is_number(c, "cost_percent", .0514);
	json_free(m);
	json_free(c);
	tap_near(sampler_steal_percent(&v[0], &v[3]), tick * 12 / 24e6 / cpus,
	    1e-9, "the time that the host took is a share of all CPUs");
	tap_near(sampler_foreign_percent(&v[0], &v[3], 300 * tick - 24e8),
	    100 / cpus, 1e-9,
	    "CPU time that is not of the load or the servers is of other "
	    "programs");
	tap_ok(sampler_foreign_percent(&v[0], &v[3], 300 * tick + 1) == 0,
	    "the CPU time of other programs is at least 0");
	tap_ok(isnan(sampler_foreign_percent(&v[0], &v[3], NAN)),
	    "if the time of the servers is unknown, so is that of other "
	    "programs");
	/* Counters that decrease, and limits that do not exist, are unknown. */
	s.throttles[1] = 2;
	s.group[1].cpus = NAN;
	s.server[1].voluntary = 10;
	s.client[1].voluntary = 1;
	v[3].temperature_c = NAN;
	v[1].freq_mhz = NAN;
	m = all_metrics(&s);
	c = sampler_series(&s);
	tap_ok(!json_get(m, "thermal_throttles") &&
		!json_get(m, "cgroup_throttled_percent") &&
		!json_get(m, "client_voluntary_switches_per_s") &&
		!json_get(m, "freq_mhz") && !json_get(c, "temperature_c") &&
		!json_get(c, "freq_mhz") && json_get(c, "at_s"),
	    "a metric or a column with a gap is absent");
	is_number(m, "server_voluntary_switches_per_s", 0);
	json_free(m);
	json_free(c);
	s.n = 1;
	m = all_metrics(&s);
	c = sampler_series(&s);
	tap_ok(json_len(m) == 0 && json_len(c) == 0,
	    "a single reading gives no metrics");
	json_free(m);
	json_free(c);
	s.n = 2;
	v[0].cpus.n = 1;
	m = all_metrics(&s);
	c = sampler_series(&s);
	is_number(m, "cpu_avg_percent", 50);
	is_list(c, "core_busy_percent", "{\"0\":[50]}");
	json_free(m);
	json_free(c);
}

/* This process is server and client, and burns CPU time for a while. */
static void
sample(void)
{
	pid_t self = getpid();
	struct sampler *s = sampler_new(&self, 1, &self, 1, NULL);
	struct json *m, *c;
	double from, avg, peak;

	sampler_begin(s);
	from = task_process_ns(self);
	while (task_process_ns(self) < from + 50.0 * MS)
		;
	sampler_end(s);
	m = all_metrics(sampler_data(s));
	c = sampler_series(sampler_data(s));
	avg = json_get_num(m, "cpu_avg_percent", NAN);
	peak = json_get_num(m, "cpu_peak_percent", NAN);
	tap_ok(avg > 0 && avg <= 110, "CPU: %g", avg);
	tap_near(peak, avg, 1e-9, "with one interval the peak is the mean");
	tap_ok(json_get_num(m, "memory_peak_mb", 0) > .5, "memory");
	tap_ok(json_get(m, "server_voluntary_switches_per_s") &&
		json_get(m, "client_involuntary_switches_per_s"),
	    "context switches");
	tap_ok(json_len(json_get(c, "at_s")) == 1 &&
		json_len(json_get(c, "server_cpu_percent")) == 1,
	    "one sample");
	/* The thread that sampled may not have ended yet. */
	tap_ok(json_len(json_get(c, "threads")) >= 1,
	    "the sample has the number of threads");
	json_free(m);
	json_free(c);
	sampler_free(s);
}

/* A server that is not on this machine, or has ended: its metrics are
 * absent. */
static void
fail_without_processes(void)
{
	pid_t self = getpid(), gone = 4194303;
	struct sampler *s = sampler_new(NULL, 0, &self, 1, NULL);
	struct json *m, *c;

	sampler_begin(s);
	sampler_end(s);
	m = all_metrics(sampler_data(s));
	c = sampler_series(sampler_data(s));
	tap_ok(!json_get(m, "cpu_avg_percent") &&
		!json_get(m, "memory_peak_mb") &&
		!json_get(m, "server_voluntary_switches_per_s") &&
		!json_get(m, "server_involuntary_switches_per_s"),
	    "without a server on this machine its metrics are absent");
	tap_ok(!json_get(c, "server_cpu_percent") && json_get(c, "at_s"),
	    "its columns are absent");
	json_free(m);
	json_free(c);
	sampler_free(s);
	s = sampler_new(&gone, 1, &self, 1, NULL);
	sampler_begin(s);
	sampler_end(s);
	m = all_metrics(sampler_data(s));
	tap_ok(!json_get(m, "cpu_avg_percent") &&
		!json_get(m, "memory_peak_mb") &&
		!json_get(m, "server_voluntary_switches_per_s"),
	    "metrics of a server that has ended are absent");
	json_free(m);
	sampler_free(s);
}

/* A run that ends before its measured time has no end reading. */
static void
free_while_sampling(void)
{
	pid_t self = getpid();
	struct sampler *s = sampler_new(NULL, 0, &self, 1, NULL);
	size_t n = 0;

	sampler_begin(s);
	sampler_free(s);
	for (int i = 0; i < 500; i++) { /* for the kernel to end a thread */
		free(task_list_threads(self, &n));
		if (n == 1)
			break;
		poll(NULL, 0, 10);
	}
	tap_ok(n == 1, "a sampler that is freed has no thread");
}

/* Returns the CPU time of all threads except the caller's. */
static double
read_others_ns(void)
{
	struct timespec all, own;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &all);
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &own);
	return (double)(all.tv_sec - own.tv_sec) * 1e9 +
	    (double)(all.tv_nsec - own.tv_nsec);
}

/* There are so many servers that a reading takes longer than starting and
 * ending a thread. */
static void
report_cost(void)
{
	static pid_t many[4000];
	const struct sampler_reading *a, *b;
	struct sampler *s;
	struct json *c;
	double before, spent, cost;

	for (size_t i = 0; i < sizeof many / sizeof *many; i++)
		many[i] = getpid();
	s = sampler_new(many, sizeof many / sizeof *many, many, 1, NULL);
	before = read_others_ns();
	sampler_begin(s);
	for (int i = 0; i < 6000 && read_others_ns() - before < 5e6; i++)
		poll(NULL, 0, 10);
	sampler_end(s);
	spent = read_others_ns() - before;
	c = sampler_series(sampler_data(s));
	a = &sampler_data(s)->readings[0];
	b = &sampler_data(s)->readings[sampler_data(s)->n - 1];
	cost = json_get_num(c, "cost_percent", NAN) / 100 *
	    (double)(b->at_ns - a->at_ns);
	/* On a busy machine starting and ending the thread takes a tenth. */
	if (!tap_ok(cost > .8 * spent && cost < 1.01 * spent,
		"the cost of sampling is the CPU time of its thread"))
		printf("# %g ns of %g\n", cost, spent);
	json_free(c);
	sampler_free(s);
}

int
main(void)
{
	ends("1 2 3", (int[]){0, 1000, 2000, 3000}, 4);
	ends("1 3", (int[]){0, 1000, 2000, 2400},
	    4); /* the last interval is short */
	ends("1 2 3", (int[]){0, 1000, 2000, 2500}, 4);
	ends("1", (int[]){0, 200}, 2); /* the whole run is short */
	ends("2", (int[]){0, 300, 1000}, 3);
	ends("1 3", (int[]){0, 1000, 1300, 2000}, 4);
	ends("2", (int[]){0, 100, 200}, 3);
	ends("", (int[]){0}, 1);
	figures();
	sample();
	fail_without_processes();
	free_while_sampling();
	report_cost();
	return tap_done();
}
