/*
 * Earlier subjects, in the order of the input. They show how much a case varies
 * from build to build.
 */
#ifndef HISTORY_H
#define HISTORY_H

#include <stddef.h>

#include "judge/moderate.h"

struct history;
struct kase;
struct sample;

/* How many of the last changes are used, and how many are needed. */
enum { HISTORY_DELTAS = 20, HISTORY_LEAST = 5 };

/* Returns NULL, after reporting it, if a file cannot be read. */
struct history *history_read(const char *const *files, size_t n);
void history_free(struct history *);

/*
 * Returns a margin from the noise of a case ('key' as in cases.h): x = Q3 +
 * 3 IQR of |ln| of the ratios of neighbouring medians, the last HISTORY_DELTAS
 * of them (the significance threshold of rustc-perf), as 1 - exp(-x).
 * NAN: fewer than HISTORY_LEAST ratios.
 */
double history_margin(
    const struct history *, const char *key, const char *metric);

/*
 * Returns all values of the last HISTORY_DELTAS subjects that have some,
 * without rounds. Caller frees with sample_free.
 */
struct sample history_sample(
    const struct history *, const char *key, const char *metric);

/*
 * Returns how much sessions of one subject differ in the metric, over all cases
 * of the machine of 'like' (between.h). df 0: too few subjects have several
 * sessions, each of them with a name.
 */
struct moderate history_sessions(
    const struct history *, const char *metric, const struct kase *like);

#endif
