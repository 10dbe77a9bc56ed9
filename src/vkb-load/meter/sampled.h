/* What a sampler read during a run, and the metrics of it. NAN: unknown. */
#ifndef SAMPLED_H
#define SAMPLED_H

#include "cgroup.h"
#include "cpustat.h"
#include "task.h"

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define SAMPLED_PERIOD_NS 1000000000

struct json;

struct sampled_reading {
	int64_t at_ns;
	double server_ns, client_ns; /* CPU time */
	double memory_mb;            /* resident, of all servers */
	double freq_mhz, temperature_c;
	struct cpustat cpus; /* zeroed if they are not those of the machine */
};

struct sampled {
	const pid_t *servers; /* borrowed */
	size_t nservers;
	struct sampled_reading *readings; /* the first and last at the ends */
	size_t n;
	/* At begin and end. */
	struct task_switches server[2], client[2];
	double throttles[2];
	struct cgroup group[2];
	struct task_thread *threads; /* of the servers */
	size_t nthreads;
	double cost_ns; /* CPU time of the sampler's thread */
};

/* Sets the first and the last reading. Borrowed. */
void sampled_ends(const struct sampled *, const struct sampled_reading **first,
    const struct sampled_reading **last);

/*
 * Return the metrics of the servers and the client by name, those of the
 * machine, and the time series; the caller frees them with json_free. The
 * servers are still there: their CPUs and the peak of their memory are asked
 * for.
 */
struct json *sampled_metrics(const struct sampled *);
struct json *sampled_machine(const struct sampled *);
struct json *sampled_series(const struct sampled *);

/*
 * Sets 'ends' to the readings that end an interval and returns how many. An
 * interval has at least half a second, since shorter ones are too noisy. A
 * short last one is merged with the one before, so a short run has one
 * interval.
 */
size_t sampled_intervals(
    const struct sampled_reading *, size_t n, size_t *ends);

/*
 * Return the percentage of the CPU time of the whole machine between two
 * readings that its host took away, and that other programs than ours used;
 * own_ns: the CPU time of ours.
 */
double sampled_steal_percent(
    const struct sampled_reading *, const struct sampled_reading *);
double sampled_foreign_percent(const struct sampled_reading *,
    const struct sampled_reading *, double own_ns);

#endif
