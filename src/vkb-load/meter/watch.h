/*
 * What a run cost: CPU time of the client's threads and of the servers, cycles
 * and instructions where the kernel lets them be counted, and what else ran on
 * the machine meanwhile.
 */
#ifndef WATCH_H
#define WATCH_H

#include "vkb-load/engine/engine.h"

#include <stddef.h>
#include <sys/types.h>

struct json;
struct watch;

/*
 * Percent of the time: how long the busiest thread of a side ran, and how long
 * one ran or waited for a CPU that others had. NAN: not known.
 */
struct watch_busy {
	double ran, wanted;
};

/*
 * Server-bound: the busiest main thread of the servers used at least so much of
 * a CPU (I/O threads spin, so they say nothing). Client-bound: not that, but
 * the busiest client thread did. Where neither did, since CPUs are shared: the
 * side of which such a thread ran or waited for a CPU for so long; if both did,
 * the one that used more of it.
 */
#define WATCH_BUSY_PERCENT 90
enum watch_bound { WATCH_NEITHER, WATCH_SERVER, WATCH_CLIENT };
enum watch_bound watch_bound(
    struct watch_busy server, struct watch_busy client);

/* What a run cost. NAN where a figure could not be had. */
struct watch_cost {
	double client_cpu_us_per_req, client_cycles_per_req;
	double client_busy_percent; /* busiest thread */
	double server_cpu_us_per_req;
	double server_cycles_per_req, server_instructions_per_req;
	double server_busy_percent; /* busiest main thread of the servers */
	double foreign_cpu_percent, steal_percent; /* of the whole machine */
	double memory_mb;     /* resident memory of the servers, summed */
	struct json *sampled; /* more metrics, by name; owned */
	struct json *samples; /* the course of them; owned */
	enum watch_bound bound;
};

/* Of the servers on this host, and of the threads that its meter is told. */
struct watch *watch_new(const struct engine_target *);
struct engine_meter watch_meter(struct watch *); /* borrows it */

/*
 * Of another program that loads them with so many threads, as a whole: how busy
 * one of them is, is known as their mean. watch_end before it is waited for.
 */
struct watch *watch_child(const struct engine_target *, pid_t pid, int threads);
void watch_free(struct watch *);

void watch_begin(struct watch *); /* both while the threads live */
void watch_end(struct watch *);

/*
 * The cost of so many requests; 0: not known of one. All zero where nothing was
 * measured. watch_cost_free in any case.
 */
void watch_report(const struct watch *, uint64_t requests, struct watch_cost *);
void watch_cost_free(struct watch_cost *);

#endif
