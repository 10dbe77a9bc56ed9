/*
 * A summary record for comparisons: its lists of numbers are read from the text
 * into arrays, without a tree; all else is a small tree.
 */
#ifndef PART_H
#define PART_H

#include <stdbool.h>
#include <stddef.h>

#include "sample.h"

struct json;
struct part_reader;

struct part_metric {
	const char *name; /* of the reader */
	struct sample
	    runs;     /* its rounds are of the part, for several metrics */
	bool counted; /* were these runs counted, every one? */
};

struct part {
	/* Trees of the reader: equal texts are one tree. */
	const struct json *config, *subject;
	const struct json *rest;     /* all that has no place of its own */
	struct part_metric *metrics; /* by name */
	size_t nmetrics;
	void **kept; /* what samples borrow: rounds and tails */
	size_t nkept;
	/* JSON; NULL: there are none, or they are ignored. */
	char *hists, *quantiles;
};

/* It has what its parts borrow. 'hists': histograms and quantiles, which are
 * large, are kept. */
struct part_reader *part_reader_new(bool hists);
void part_reader_free(struct part_reader *);

/* Returns the tree of a valid JSON text. */
const struct json *part_tree(struct part_reader *, const char *text, size_t n);

/*
 * Returns false if the text is not a summary record that record_check accepts;
 * record_tree then reports why, or reads another record. The caller frees with
 * part_free.
 */
bool part_read(struct part_reader *, struct part *, const char *text, size_t n);
void part_free(struct part *);

/* Returns the metric of this name, or NULL. */
const struct part_metric *part_metric(const struct part *, const char *name);

/* Moves the metrics of another part of the same case to this one. Of a metric
 * that is exact in counted runs, these replace those that were measured. */
void part_take_metrics(struct part *, struct part *from);

/* Compare by content, for sorting; 0: equal. The metrics: by their values. */
int part_compare(const struct part *, const struct part *);
int part_compare_metrics(const struct part *, const struct part *);

#endif
