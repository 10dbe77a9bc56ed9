/*
 * The search for the capacity of a server: the highest rate of a load at which
 * a limit of the latency holds, see capacity.h for the method.
 *
 * The first trial is a closed loop, whose rate is where the search starts. Each
 * other trial is an open loop of the case's warm-up and duration at one rate.
 * It holds if the percentile does, if at least 99 % of the requests of its rate
 * were answered until the limit after its end (fewer mean that a backlog
 * grows), and if nothing failed. At the end there is one more trial at the rate
 * that was found, whose cost is recorded.
 */
#ifndef SEARCH_H
#define SEARCH_H

#include "capacity.h"

struct engine_job;
struct engine_meter;
struct engine_result;
struct engine_work;
struct slospec;

enum { SEARCH_TRIALS = CAPACITY_TRIALS + 2 }; /* at most */

/*
 * Runs the search on a server that is filled, with one stream. Sets 'capacity'
 * in the record of the job, to the trials made so far if it fails, and *result
 * to that of the last trial, with the capacity, without rate and latencies; if
 * it fails, to an empty one.
 * Returns 0; 1 after reporting that no capacity was found; -1 after reporting
 * an error or if it was stopped.
 */
int search_run(const struct engine_job *, const struct engine_work *,
    const struct slospec *, const struct engine_meter *,
    struct engine_result *result);

#endif
