/*
 * A summary record for comparisons: its lists of numbers are read from the text
 * into arrays, without a tree; all else is a small tree.
 */
#ifndef PART_H
#define PART_H

#include <stdbool.h>
#include <stddef.h>

#include "sample.h"

struct caseset;
struct json;
struct metric;
struct part_reader;
struct summary;

struct part_metric {
	const char *name;        /* of the reader */
	const struct metric *of; /* of the table, or NULL */
	struct sample runs;      /* its rounds are of the reader, for several */
	bool counted;            /* were these runs counted, every one? */
};

struct part {
	size_t config, subject;  /* numbers in the sets of the reader */
	const struct json *rest; /* all else, of the reader: equal ones are one
				  * tree */
	struct part_metric *metrics; /* by name */
	size_t nmetrics;
	struct json *hists, *quantiles; /* NULL: none, or ignored */
};

/* It has what its parts borrow, and adds configurations and subjects to sets of
 * the caller. 'hists': histograms and quantiles, which are large, are kept. */
struct part_reader *part_reader_new(
    struct caseset *configs, struct caseset *subjects, bool hists);
void part_reader_free(struct part_reader *);

/*
 * Returns false if the text is not a summary record that record_check accepts;
 * record_tree then reports why, or reads another record. The caller frees with
 * part_free.
 */
bool part_read(struct part_reader *, struct part *, const char *text, size_t n);

/* Makes that of a record of runs, whose set of configurations and of subjects
 * are those of the reader. */
struct part part_take(struct part_reader *, struct summary *, size_t i);
void part_free(struct part *);

/* Returns the metric of this name, or NULL. */
const struct part_metric *part_metric(const struct part *, const char *name);

/* Moves the metrics of another part of the same case to this one. Of a metric
 * that is exact in counted runs, these replace those that were measured. */
void part_take_metrics(struct part_reader *, struct part *, struct part *from);

/* Compare by content, for sorting; 0: equal. The metrics: by their values. */
int part_compare(const struct part *, const struct part *);
int part_compare_metrics(const struct part *, const struct part *);

#endif
