/*
 * Data of the runs of a group besides their metrics: the quantiles of their
 * histograms, and whether their series are steady. Runs are numbered from 0 in
 * the order they are added.
 */
#ifndef RUNSERIES_H
#define RUNSERIES_H

#include <stddef.h>
#include <stdint.h>

struct run_series;
struct hist;
struct json;
struct run_record;

struct run_series *run_series_new(void);
void run_series_free(struct run_series *);

/* Adds the series of a run that succeeded. */
void run_series_add(struct run_series *, size_t run, const struct run_record *);

void run_series_hist(
    struct run_series *, size_t run, const char *name, const struct hist *);

/* Returns variance_within of the metric's series for the first *n runs, NAN for
 * a run without one. Returns NULL if no run has one. Borrowed. */
const double *run_series_within(
    const struct run_series *, const char *metric, size_t *n);

/* Sets quantiles and steady of the summary 'rec' of n runs, in the order of
 * 'at'. */
void run_series_summary(
    const struct run_series *, const uint32_t *at, size_t n, struct json *rec);

#endif
