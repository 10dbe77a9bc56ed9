/*
 * A 'perf record' or 'perf stat' that counts from one word to another, and that
 * cannot outlive us.
 */
#ifndef PERF_H
#define PERF_H

struct perf;

/*
 * Starts "perf ARGS" (NULL ends them), which attaches and waits; 'what' is
 * record or stat. It is given a descriptor for its words. NULL, and said.
 */
struct perf *perf_start(const char *what, const char *const *args);
void perf_free(struct perf *); /* ends it; NULL does nothing */

/* From now on, until then. 0; 1: it has ended; -1, and said. */
int perf_enable(struct perf *);
int perf_disable(struct perf *);

int perf_fd(const struct perf *); /* readable when it has ended */

/* Lets it write what it has and end. 0, or -1 and said. */
int perf_end(struct perf *);

/* What it printed, once it has ended; borrowed. */
const char *perf_text(struct perf *);

/* "6.1.187", or NULL, and said: there is none. Caller frees with free(). */
char *perf_version(void);

#endif
