/*
 * A 'perf record' or 'perf stat' that counts while perf_control tells it to.
 * It is killed if this program ends.
 */
#ifndef PERF_H
#define PERF_H

#include <stdbool.h>

struct perf;

/*
 * Starts "perf ARGS" (ended by NULL), which attaches and waits for
 * perf_control. 'what' is "record" or "stat", and is borrowed. Returns NULL
 * after reporting an error.
 */
struct perf *perf_start(const char *what, const char *const *args);
void perf_free(struct perf *); /* ends perf; NULL is allowed */

/* Starts or stops counting. Returns 0; 1 if perf has ended; -1 after reporting
 * an error. */
int perf_control(struct perf *, bool on);

int perf_fd(const struct perf *); /* readable once perf has ended */

/* Lets perf write its data and end. Returns 0, or -1 after reporting an
 * error. */
int perf_end(struct perf *);

/* Returns what perf printed, once it has ended; borrowed. */
const char *perf_text(struct perf *);

/* Returns "6.1.187", or NULL, after reporting an error, if perf cannot be run.
 * Caller frees with free(). */
char *perf_version(void);

#endif
