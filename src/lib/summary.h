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
struct jsonl;
struct summary;

struct summary *summary_new(void);
void summary_free(struct summary *);

/* Each metric shall say how many more runs it takes to know its median this
 * well: a relative half width, .01. */
void summary_want(struct summary *, double precision);

/* From now on the histograms of runs are passed over. */
void summary_no_hists(struct summary *);

/*
 * Counts one run record that passed record_check. 0, or -1 and said: a
 * histogram that cannot be read (the rest of the run is counted). A run that
 * stood before, with a session and equal in everything, is not counted again.
 */
int summary_add(struct summary *, const struct json *run, const char *where);

/*
 * As jsonl_text and record_next; runs are counted on the way and not given out.
 * What summary_line gives out may be a run in another form, which record_tree
 * makes a record of: summary_add counts it.
 */
int summary_line(
    struct summary *, struct jsonl *, const char **text, size_t *n);
int summary_next(struct summary *, struct jsonl *, struct json **rec);

/* From now on at most so many bytes of values are in memory, the others in a
 * file without a name in 'dir' (borrowed). */
void summary_spill(struct summary *, const char *dir, size_t most);

/*
 * The records, sorted by configuration, then subject: by the text of each with
 * sorted keys. Once one was asked for, no run can be added.
 */
size_t summary_count(const struct summary *);

/* The text of configuration and subject with a line break between; the caller
 * frees it with free(). */
char *summary_key(struct summary *, size_t i);

/* The subjects in the order in which they came, as text with sorted keys.
 * Borrowed. */
size_t summary_subjects(const struct summary *);
const char *summary_subject(const struct summary *, size_t i);

/* One as a line, written piece by piece; 0, or -1 and said. */
int summary_write(struct summary *, size_t i, int fd);

/* One as text; caller frees with free(). NULL, and said, as below. */
char *summary_text(struct summary *, size_t i, size_t *n);

/*
 * One as a tree; brief: without values, blocks and sessions of the metrics, and
 * without histograms. Caller frees with json_free; NULL, and said, where what
 * was in the file cannot be read.
 */
struct json *summary_record(struct summary *, size_t i);
struct json *summary_brief(struct summary *, size_t i);

#endif
