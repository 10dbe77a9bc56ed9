/*
 * What a run cost: CPU time of the client's threads and of the servers, cycles
 * and instructions where the kernel lets them be counted, and what else ran on
 * the machine meanwhile.
 */
#ifndef WATCH_H
#define WATCH_H

#include <stddef.h>
#include <sys/types.h>

struct engine_result;
struct engine_target;
struct watch;

/* Of the threads 'tids' of this process and the servers on this host. */
struct watch *watch_new(
    const struct engine_target *, const pid_t *tids, size_t n);
void watch_free(struct watch *);

void watch_begin(struct watch *); /* both while the threads live */
void watch_end(struct watch *);

/* Fills the figures and the verdict; needs requests and elapsed_s. */
void watch_report(const struct watch *, struct engine_result *);

#endif
