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
 * How much sessions of one build differ: the variance of their means of
 * logarithms. The noise of the runs is in it, so that it is too large rather
 * than too small.
 */

/* The least degrees of freedom that are used: those of 3 sessions. */
enum { HISTORY_DF = 2 };

/* The squares that the builds of all cases add up to; zeroed at first. */
struct history_spread {
	double squares, df;
	double of, most;  /* df of a case; those of a session are dependent */
	const char *last; /* the case that 'of' is of */
};

/* Adds a build of the case with this key, which is borrowed; all builds of a
 * case are added one after the other. One with an unknown session, or a value
 * that is not above 0, is left out. */
void history_add_build(
    struct history_spread *, const struct sample *build, const char *key);

/* Returns the variance; its df is 0 if there are fewer than HISTORY_DF. */
struct moderate history_variance(const struct history_spread *);

/*
 * Returns how much sessions of one subject differ in the metric, over all cases
 * of the machine of 'like'. df 0: too few subjects have several
 * sessions, each of them with a name.
 */
struct moderate history_sessions(
    const struct history *, const char *metric, const struct kase *like);

#endif
