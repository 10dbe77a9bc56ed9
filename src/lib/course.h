/*
 * What each run of a group says beyond its metrics: the quantiles of its
 * histograms, the course of its series, the looks of its session. Runs are
 * counted from 0 in the order they came; nothing is kept of what no run has.
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

/* What the record says of its session, and of its series if it went well. */
void course_add(struct course *, size_t run, const struct run_record *);

void course_hist(
    struct course *, size_t run, const char *name, const struct hist *);

/*
 * varsplit_within of the metric's series, of the first *n runs; NAN where one
 * has none. NULL: none has.
 */
const double *course_within(
    const struct course *, const char *metric, size_t *n);

/*
 * Sets quantiles, steady, looks and until of a summary of n runs, in the order
 * 'at' says, and 'failed' more.
 */
void course_summary(const struct course *, const uint32_t *at, size_t n,
    size_t failed, struct json *rec);

#endif
