/*
 * Samples once a second during a run, in a thread of its own: CPU time of the
 * servers and of the client, their memory, the load of each CPU, frequency and
 * temperature.
 */
#ifndef SAMPLER_H
#define SAMPLER_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "cpustat.h"

struct json;
struct sampler;

/*
 * 'servers' are processes; the client is the threads 'tids' of this process,
 * or the process 'child' where that is not 0. Both lists are borrowed.
 */
struct sampler *sampler_new(const pid_t *servers, size_t nservers,
    const pid_t *tids, size_t ntids, pid_t child);
void sampler_free(struct sampler *);

void sampler_begin(struct sampler *);
void sampler_end(struct sampler *); /* while the processes live */

/* NAN: unknown. */
struct sampler_reading {
	int64_t at_ns;
	double server_ns, client_ns; /* CPU time */
	double memory_mb;            /* resident, of all servers */
	double freq_mhz, temperature_c;
	struct cpustat cpus; /* zeroed if they are not those of the machine */
};

/* Sets the first and the last reading, after sampler_end. Borrowed. */
void sampler_ends(const struct sampler *, const struct sampler_reading **first,
    const struct sampler_reading **last);

/*
 * Return the metrics by name, and their time series; the caller frees both with
 * json_free.
 */
struct json *sampler_metrics(const struct sampler *);
struct json *sampler_series(const struct sampler *);

/*
 * Sets 'ends' to the readings that end an interval and returns how many. An
 * interval has at least half a second, since shorter ones say little. A shorter
 * last one is merged with the one before, so a short run has one interval.
 */
size_t sampler_intervals(
    const struct sampler_reading *, size_t n, size_t *ends);

#endif
