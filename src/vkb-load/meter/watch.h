/*
 * Measures the cost of a run: CPU time of the client's threads and of the
 * servers, cycles and instructions where the kernel allows it, and the load of
 * other programs on the machine.
 */
#ifndef WATCH_H
#define WATCH_H

#include "vkb-load/engine/engine.h"

#include <sys/types.h>

struct json;
struct watch;

/*
 * Percent of the time that the busiest thread of a side ran, and that one ran
 * or waited for a CPU that others had. NAN: unknown.
 */
struct watch_busy {
	double ran, wanted;
};

/*
 * Server-bound: the busiest main thread of the servers used at least this
 * percentage of a CPU (I/O threads spin, so they are ignored). Client-bound:
 * else, the busiest client thread did. If neither did, since CPUs are shared:
 * the side on which such a thread ran or waited that long; if both, the one
 * that used more CPU time. Unknown: the CPU time of a
 * side is, as that of a server on another host, and the other was not the
 * limit.
 */
#define WATCH_BUSY_PERCENT 90
enum watch_bound { WATCH_UNKNOWN, WATCH_NEITHER, WATCH_SERVER, WATCH_CLIENT };
enum watch_bound watch_bound(
    struct watch_busy server, struct watch_busy client);
const char *watch_bound_name(enum watch_bound); /* NULL: unknown */

/* The cost of a run. NAN: unknown. */
struct watch_cost {
	double client_cpu_us_per_req, client_cycles_per_req;
	double client_busy_percent; /* busiest thread */
	double server_cpu_us_per_req;
	double server_cycles_per_req, server_instructions_per_req;
	double server_busy_percent; /* busiest main thread of the servers */
	double memory_mb;           /* resident memory of the servers, summed */
	struct json *sampled;       /* more metrics, by name; owned */
	struct json *machine; /* those of the whole machine, which belong to
			       * every record of the run; owned */
	struct json *samples; /* their time series; owned */
	enum watch_bound bound;
};

/* Watches the servers on this host, and the threads that its meter is given. */
struct watch *watch_new(const struct engine_target *);
struct engine_meter watch_meter(struct watch *); /* borrows it */

/*
 * Watches another program with that many threads; the load of a thread is their
 * mean. Call watch_begin before the program starts, so that nothing of a short
 * one is missed, then watch_set_child, and watch_end before it is reaped.
 */
struct watch *watch_child(const struct engine_target *, int threads);
void watch_set_child(struct watch *, pid_t);
void watch_free(struct watch *);

void watch_begin(void *watch); /* both while the threads live */
void watch_end(void *watch);

/* The load that ran while a watch measured. */
struct watch_load {
	uint64_t requests; /* 0: unknown number */
	double active_s;   /* it ran for part of the time only; 0: all of it */
	double others_ns;  /* CPU time of other loads of ours */
};

/*
 * Computes the cost of a run. All is zero if nothing was measured. The caller
 * calls watch_cost_free in any case.
 */
void watch_report(
    const struct watch *, const struct watch_load *, struct watch_cost *);
/* The CPU time of client and servers; NAN: unknown. */
double watch_spent_ns(const struct watch *);
/* Returns the metrics that the run gets beside the cost, for more. */
struct json *watch_cost_metrics(struct watch_cost *);
void watch_cost_free(struct watch_cost *);

#endif
