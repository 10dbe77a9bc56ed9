/*
 * What a thread counts, and gives to the run once a second. Private to the
 * engine, like run.h.
 */
#ifndef TALLY_H
#define TALLY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct conn;
struct run;
struct worker;

void tally_error(struct worker *, const char *kind, const char *text);

/* An error reply. False: it has made the run fail. */
bool tally_error_reply(struct worker *, const struct conn *, const char *line);
/* It is the answer to a request. */
void tally_refused(struct worker *, const char *line);

/* Counts n requests and their latency in the worker's interval. */
void tally_record(struct worker *, int64_t ns, uint32_t n);
/* The latency of n that were answered after the measured time: no requests. */
void tally_record_late(struct worker *, int64_t ns, uint32_t n);

/* The interval ends, if only because time went on. */
void tally_interval(struct worker *, int64_t now);
/* The intervals before that one are the run's. Lock held. */
void tally_hand_over(struct worker *, size_t until);
/* Figures of the intervals all threads have left behind. Lock held. */
void tally_close_intervals(struct run *, bool all);

#endif
