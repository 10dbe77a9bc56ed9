/*
 * Repetitions to summaries: runs of equal subject and config become one
 * summary record. What the numbers mean stands in vkb-stats(1).
 *
 * The result does not depend on the order of the runs.
 */
#ifndef SUMMARY_H
#define SUMMARY_H

#include <stddef.h>

struct json;
struct summary;

struct summary *summary_new(void);
void summary_free(struct summary *);

/* Each metric shall say how many more runs it takes to know its median this
 * well: a relative half width, .01. */
void summary_want(struct summary *, double precision);

/*
 * Counts one run record that passed record_check. 0, or -1 and said: a
 * histogram that cannot be read (the rest of the run is counted). A run that
 * stood before, with a session and equal in everything, is not counted again.
 */
int summary_add(struct summary *, const struct json *run, const char *where);

/* The records, sorted by config, then subject; caller frees with json_free. */
size_t summary_count(const struct summary *);
struct json *summary_record(struct summary *, size_t i);

#endif
