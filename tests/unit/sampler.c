#include "vkb-load/meter/sampler.h"
#include "json.h"
#include "tap.h"
#include "vkb-load/meter/task.h"

#include <poll.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define MS 1000000

/* The ends as text, of readings at so many ms. */
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

/* This process as server and client: it burns CPU for a while. */
static void
sample(void)
{
	pid_t self = getpid();
	struct sampler *s = sampler_new(&self, 1, &self, 1, 0);
	struct json *m, *c;
	double from, avg, peak;

	sampler_begin(s);
	from = task_process_ns(self);
	while (task_process_ns(self) < from + 50.0 * MS)
		;
	sampler_end(s);
	m = sampler_metrics(s);
	c = sampler_series(s);
	avg = json_get_num(m, "cpu_avg_percent", NAN);
	peak = json_get_num(m, "cpu_peak_percent", NAN);
	tap_ok(avg > 0 && avg <= 110, "CPU: %g", avg);
	tap_near(peak, avg, 1e-9, "of one interval the peak is the mean");
	tap_ok(json_get_num(m, "memory_peak_mb", 0) > .5, "memory");
	tap_ok(json_get(m, "server_voluntary_switches_per_s") &&
		json_get(m, "client_involuntary_switches_per_s"),
	    "context switches");
	tap_ok(json_len(json_get(c, "at_s")) == 1 &&
		json_len(json_get(c, "server_cpu_percent")) == 1,
	    "one sample");
	/* That which sampled may still be on its way out. */
	tap_ok(json_len(json_get(c, "threads")) >= 1, "of its thread");
	json_free(m);
	json_free(c);
	sampler_free(s);
}

/* A server that is elsewhere, or gone: what is not known is absent. */
static void
fail_without_processes(void)
{
	pid_t self = getpid(), gone = 4194303;
	struct sampler *s = sampler_new(NULL, 0, &self, 1, 0);
	struct json *m, *c;

	sampler_begin(s);
	sampler_end(s);
	m = sampler_metrics(s);
	c = sampler_series(s);
	tap_ok(!json_get(m, "cpu_avg_percent") &&
		!json_get(m, "memory_peak_mb") &&
		!json_get(m, "server_voluntary_switches_per_s"),
	    "no server, no figures of it");
	tap_ok(!json_get(c, "server_cpu_percent") && json_get(c, "at_s"),
	    "nor a course");
	json_free(m);
	json_free(c);
	sampler_free(s);
	s = sampler_new(&gone, 1, &self, 1, 0);
	sampler_begin(s);
	sampler_end(s);
	m = sampler_metrics(s);
	tap_ok(!json_get(m, "cpu_avg_percent") &&
		!json_get(m, "memory_peak_mb") &&
		!json_get(m, "server_voluntary_switches_per_s"),
	    "nor of one that is gone");
	json_free(m);
	sampler_free(s);
}

/* Returns the CPU time of all threads but the caller's. */
static double
read_others_ns(void)
{
	struct timespec all, own;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &all);
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &own);
	return (double)(all.tv_sec - own.tv_sec) * 1e9 +
	    (double)(all.tv_nsec - own.tv_nsec);
}

/* So many servers that a reading takes longer than to begin and end a thread.
 */
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
	s = sampler_new(many, sizeof many / sizeof *many, many, 1, 0);
	sampler_begin(s);
	before = read_others_ns();
	for (int i = 0; i < 6000 && read_others_ns() - before < 5e6; i++)
		poll(NULL, 0, 10);
	sampler_end(s);
	spent = read_others_ns() - before;
	c = sampler_series(s);
	sampler_ends(s, &a, &b);
	cost = json_get_num(c, "cost_percent", NAN) / 100 *
	    (double)(b->at_ns - a->at_ns);
	if (!tap_ok(cost > .97 * spent && cost < 1.01 * spent,
		"sampling costs the CPU time of its thread"))
		printf("# %g ns of %g\n", cost, spent);
	json_free(c);
	sampler_free(s);
}

int
main(void)
{
	ends("1 2 3", (int[]){0, 1000, 2000, 3000}, 4);
	ends("1 3", (int[]){0, 1000, 2000, 2400}, 4); /* the last is short */
	ends("1 2 3", (int[]){0, 1000, 2000, 2500}, 4);
	ends("1", (int[]){0, 200}, 2); /* a short run */
	ends("2", (int[]){0, 300, 1000}, 3);
	ends("1 3", (int[]){0, 1000, 1300, 2000}, 4);
	ends("2", (int[]){0, 100, 200}, 3);
	ends("", (int[]){0}, 1);
	sample();
	fail_without_processes();
	report_cost();
	return tap_done();
}
