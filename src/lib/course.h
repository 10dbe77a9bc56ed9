/*
 * Data of the runs of a group besides their metrics: the quantiles of their
 * histograms, whether their series are steady, and the looks of their sessions.
 * Runs are numbered from 0 in the order they are added.
 */
#ifndef COURSE_H
#define COURSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct course;
struct hist;
struct json;
struct run_record;

struct course *course_new(void);
void course_free(struct course *);

/* Adds the session of the record, and its series if the run succeeded. */
void course_add(struct course *, size_t run, const struct run_record *);

void course_hist(
    struct course *, size_t run, const char *name, const struct hist *);

/* Returns varsplit_within of the metric's series for the first *n runs, NAN for
 * a run without one. Returns NULL if no run has one. Borrowed. */
const double *course_within(
    const struct course *, const char *metric, size_t *n);

/* Sets quantiles, steady, looks and until of the summary 'rec' of n runs, in
 * the order of 'at', and of 'failed' runs more. */
void course_summary(const struct course *, const uint32_t *at, size_t n,
    size_t failed, struct json *rec);

#endif
