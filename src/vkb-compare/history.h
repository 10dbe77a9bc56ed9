/*
 * What was measured before: earlier subjects in the order of the input. They
 * say how much a case moves when nothing is changed on purpose.
 */
#ifndef HISTORY_H
#define HISTORY_H

#include <stddef.h>

struct history;
struct sample;

/* Earlier subjects that are looked at, the last ones. */
enum { HISTORY_DELTAS = 20, HISTORY_LEAST = 5 };

/* NULL, and said: some file could not be read. */
struct history *history_read(const char *const *files, size_t n);
void history_free(struct history *);

/*
 * A margin from the noise of a case (its key, cases.h): Q3 + 3 IQR of |ln| of
 * the ratios of neighbouring medians, the last HISTORY_DELTAS of them, as
 * rustc-perf finds what is significant; turned into a margin of verdict_decide,
 * 1 - exp(-x). NAN: fewer than HISTORY_LEAST ratios.
 */
double history_margin(
    const struct history *, const char *key, const char *metric);

/*
 * All values of the last HISTORY_DELTAS subjects that have some; caller frees
 * with sample_free.
 */
struct sample history_sample(
    const struct history *, const char *key, const char *metric);

#endif
