/*
 * Summarises runs: those of equal subject and config become one summary record.
 * vkb-stats(1) explains the numbers. The result does not depend on the order of
 * the runs.
 */
#ifndef SUMMARY_H
#define SUMMARY_H

#include <stdbool.h>
#include <stddef.h>

struct caseset;
struct json;
struct jsonl;
struct group_hists;
struct summary;

/* The subjects and configurations that it meets are added to those of the
 * caller, who frees them after it; NULL: both are its own. */
struct summary *summary_new(struct caseset *subjects, struct caseset *configs);
void summary_free(struct summary *);

/* Makes each metric state how many more runs its median needs for this
 * precision, a relative half width such as .01. */
void summary_set_precision(struct summary *, double precision);

/* From now on the histograms of runs are ignored, but for their slow requests
 * (tail.h). */
void summary_ignore_hists(struct summary *);

/*
 * Adds one run record that passed record_check. A run that equals an earlier
 * one in all members, session included, is not counted again. Returns 0, or -1
 * after reporting that a histogram cannot be read (the rest is counted).
 */
int summary_add(struct summary *, const struct json *run, const char *where);

/*
 * Like jsonl_text and record_next, but add the runs and return other records
 * only. summary_line may return a run in another form: pass the result of
 * record_tree to summary_add.
 */
int summary_line(
    struct summary *, struct jsonl *, const char **text, size_t *n);
int summary_next(struct summary *, struct jsonl *, struct json **rec);

/*
 * The number of records, which are sorted by the text (with sorted keys) of the
 * configuration, then of the subject. After the first call of summary_key,
 * _write, _compare or _record no run can be added.
 */
size_t summary_count(const struct summary *);

/* The texts of configuration and subject with a line break between. Caller
 * frees with free(). */
char *summary_key(struct summary *, size_t i);

/* Writes one record as a line, piece by piece. Returns 0, or -1 after reporting
 * the error. */
int summary_write(struct summary *, size_t i, int fd);

/* What a comparison reads of a record. */
struct summary_compared {
	size_t config, subject; /* numbers in the sets */
	const char *rest;       /* the other members; until the next call */
	struct json *hists, *quantiles; /* or NULL; the caller frees them */
};

/* A run that has a metric; NAN and NULL: it is not known. */
struct summary_run {
	double value, block;
	double session;   /* its index in the sessions of the record */
	const char *tail; /* JSON of tail.h; until the next call */
};

/* Takes the runs that have a metric, in their order. */
typedef void summary_take(
    void *to, const char *metric, const struct summary_run *, size_t n);

/* Returns one record, after its metrics were taken. The next call frees its
 * runs, so that this is called once for each record. */
struct summary_compared summary_compare(
    struct summary *, size_t i, summary_take *, void *to);

/* Returns one record as a tree; without histograms, and without values, blocks
 * and sessions of the metrics, if 'brief'. Caller frees with json_free. */
struct json *summary_record(struct summary *, size_t i, bool brief);

/* Sets 'hist' and 'whole' of a record by the merged histograms of its runs. */
void summary_add_hists(struct group_hists *, struct json *rec);

#endif
