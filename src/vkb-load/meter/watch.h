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

struct watch;

/*
 * Percent of the time: how long the busiest thread of a side ran, and how long
 * one ran or waited for a CPU that others had. NAN: not known.
 */
struct watch_busy {
	double ran, wanted;
};

/* What was the limit; see ENGINE_BUSY_PERCENT in engine.h. */
enum engine_bound watch_bound(
    struct watch_busy server, struct watch_busy client);

/* Of the threads 'tids' of this process and the servers on this host. */
struct watch *watch_new(
    const struct engine_target *, const pid_t *tids, size_t n);

/*
 * Of another program that loads them with so many threads, as a whole: how busy
 * one of them is, is known as their mean. watch_end before it is waited for.
 */
struct watch *watch_child(const struct engine_target *, pid_t pid, int threads);
void watch_free(struct watch *);

void watch_begin(struct watch *); /* both while the threads live */
void watch_end(struct watch *);

/* Fills the figures and the verdict; needs requests and elapsed_s. */
void watch_report(const struct watch *, struct engine_result *);

#endif
