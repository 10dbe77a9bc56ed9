#include "sampled.h"
#include "json.h"
#include "mem.h"

#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define CORES 16 /* cores with a metric; all are in the time series */

void
sampled_ends(const struct sampled *s, const struct sampled_reading **first,
    const struct sampled_reading **last)
{
	*first = &s->readings[0];
	*last = &s->readings[s->n - 1];
}

size_t
sampled_intervals(const struct sampled_reading *r, size_t n, size_t *ends)
{
	size_t k = 0, from = 0;

	for (size_t i = 1; i < n; i++)
		if (r[i].at_ns - r[from].at_ns >= SAMPLED_PERIOD_NS / 2)
			ends[k++] = from = i;
		else if (i + 1 == n)
			ends[k ? k - 1 : k++] = i;
	return k;
}

/* Returns the first reading and the *n readings that end intervals. Caller
 * frees. */
static size_t *
make_intervals(const struct sampled *s, size_t *n)
{
	size_t *v = mem_array(s->n + 1, sizeof *v);

	*n = sampled_intervals(s->readings, s->n, v + 1);
	return v;
}

static double
compute_percent(double from_ns, double to_ns, const struct sampled_reading *a,
    const struct sampled_reading *b)
{
	double v = 100 * (to_ns - from_ns) / (double)(b->at_ns - a->at_ns);

	return v >= 0 ? v : NAN;
}

static double
get_server_percent(
    const struct sampled_reading *a, const struct sampled_reading *b)
{
	return compute_percent(a->server_ns, b->server_ns, a, b);
}

static double
get_core_percent(const struct sampled_reading *a,
    const struct sampled_reading *b, size_t cpu)
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
set_switches(struct json *m, const struct sampled *s, double seconds)
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
set_cores(struct json *m, const struct sampled *s)
{
	const struct sampled_reading *a = &s->readings[0],
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
sampled_metrics(const struct sampled *s)
{
	struct json *m = json_object();
	double peak = NAN, seconds, peak_mb = 0;
	const struct sampled_reading *a, *b;
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
sampled_machine(const struct sampled *s)
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
set_columns(struct json *to, const struct sampled *s, const size_t *v, size_t n)
{
	static const char *const names[] = {"at_s", "server_cpu_percent",
	    "client_cpu_percent", "memory_mb", "freq_mhz", "temperature_c"};
	struct json *columns[6];

	for (size_t k = 0; k < 6; k++)
		columns[k] = json_array();
	for (size_t i = 1; i <= n; i++) {
		const struct sampled_reading *a = &s->readings[v[i - 1]];
		const struct sampled_reading *b = &s->readings[v[i]];

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
    struct json *to, const struct sampled *s, const size_t *v, size_t n)
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
set_threads(struct json *to, const struct sampled *s, double ns)
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
sampled_series(const struct sampled *s)
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
get_machine_ns(const struct sampled_reading *a, const struct sampled_reading *b)
{
	return (double)(b->at_ns - a->at_ns) *
	    (double)sysconf(_SC_NPROCESSORS_ONLN);
}

double
sampled_steal_percent(
    const struct sampled_reading *a, const struct sampled_reading *b)
{
	double tick = 1e9 / (double)sysconf(_SC_CLK_TCK);

	return 100 * tick * (b->cpus.whole.steal - a->cpus.whole.steal) /
	    get_machine_ns(a, b);
}

double
sampled_foreign_percent(const struct sampled_reading *a,
    const struct sampled_reading *b, double own_ns)
{
	double tick = 1e9 / (double)sysconf(_SC_CLK_TCK);
	double ns = tick * (b->cpus.whole.busy - a->cpus.whole.busy) - own_ns;

	return isnan(ns) ? NAN : fmax(0, 100 * ns / get_machine_ns(a, b));
}
