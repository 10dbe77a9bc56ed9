/*
 * Samples once a second during a run, in a thread of its own: CPU time of the
 * servers and of the client, their memory, the load of each CPU, frequency and
 * temperature.
 */
#ifndef SAMPLER_H
#define SAMPLER_H

#include "cgroup.h"
#include "cpustat.h"
#include "task.h"

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct json;
struct sampler;

#define SAMPLER_PERIOD_NS 1000000000

struct sampler_reading {
	int64_t at_ns;
	double server_ns, client_ns; /* CPU time */
	double memory_mb;            /* resident, of all servers */
	double freq_mhz, temperature_c;
	struct cpustat cpus; /* zeroed if they are not those of the machine */
};

struct sampler_data {
	const pid_t *servers; /* borrowed */
	size_t nservers;
	struct sampler_reading *readings; /* the first and last at the ends */
	size_t n;
	/* At begin and end. */
	struct task_switches server[2], client[2];
	double throttles[2];
	struct cgroup group[2];
	struct task_thread *threads; /* of the servers */
	size_t nthreads;
	double cost_ns; /* CPU time of the sampler's thread */
};

/*
 * 'servers' are processes; the client is the threads 'tids' of this process,
 * or the process 'child' where that is not NULL, and nothing while its number
 * is 0, that is, before it starts. All are borrowed.
 */
struct sampler *sampler_new(const pid_t *servers, size_t nservers,
    const pid_t *tids, size_t ntids, const _Atomic pid_t *child);
void sampler_free(struct sampler *);

void sampler_begin(struct sampler *);
void sampler_end(struct sampler *); /* while the processes live */

/* What was read, after sampler_end; at least two readings. Borrowed. */
const struct sampler_data *sampler_data(const struct sampler *);

/*
 * Return the metrics of the servers and the client by name, those of the
 * machine, and the time series; the caller frees them with json_free. The
 * servers are still there: their CPUs and the peak of their memory are asked
 * for.
 */
struct json *sampler_metrics(const struct sampler_data *);
struct json *sampler_machine(const struct sampler_data *);
struct json *sampler_series(const struct sampler_data *);

/*
 * Sets 'ends' to the readings that end an interval and returns how many. An
 * interval has at least half a second, since shorter ones are too noisy. A
 * short last one is merged with the one before, so a short run has one
 * interval.
 */
size_t sampler_intervals(
    const struct sampler_reading *, size_t n, size_t *ends);

/*
 * Return the percentage of the CPU time of the whole machine between two
 * readings that its host took away, and that other programs than ours used;
 * own_ns: the CPU time of ours.
 */
double sampler_steal_percent(
    const struct sampler_reading *, const struct sampler_reading *);
double sampler_foreign_percent(const struct sampler_reading *,
    const struct sampler_reading *, double own_ns);

#endif
