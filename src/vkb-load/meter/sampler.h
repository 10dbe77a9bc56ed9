/*
 * Samples once a second during a run, in a thread of its own: CPU time of the
 * servers and of the client, their memory, the load of each CPU, frequency and
 * temperature.
 */
#ifndef SAMPLER_H
#define SAMPLER_H

#include "sampled.h"

#include <stddef.h>
#include <sys/types.h>

struct sampler;

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

/* What was read, after sampler_end. Borrowed. */
const struct sampled *sampler_data(const struct sampler *);

#endif
