/*
 * Once a second during a run: CPU time of the servers and of the client, their
 * memory, how busy each CPU is, frequency and heat. In a thread of its own.
 */
#ifndef SAMPLER_H
#define SAMPLER_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct json;
struct sampler;

/*
 * 'servers' are processes; the client is the threads 'tids' of this process,
 * or the process 'child' where that is not 0.
 */
struct sampler *sampler_new(const pid_t *servers, size_t nservers,
    const pid_t *tids, size_t ntids, pid_t child);
void sampler_free(struct sampler *);

void sampler_begin(struct sampler *);
void sampler_end(struct sampler *); /* while the processes live */

/* Metrics by name, and the course of them: new objects, the caller's. */
struct json *sampler_metrics(const struct sampler *);
struct json *sampler_course(const struct sampler *);

/*
 * Which of the n readings end an interval, at least half a second after the
 * one before: what is read in less says little. A last one that is shorter
 * belongs to the one before, so of a short run there is one. How many.
 */
size_t sampler_intervals(const int64_t *at_ns, size_t n, size_t *ends);

#endif
