/*
 * A summary record for comparisons: its lists of numbers are read from the text
 * into arrays, without a tree; all else is a small tree.
 */
#ifndef PART_H
#define PART_H

#include <stdbool.h>
#include <stddef.h>

struct json;
struct part_reader;

struct part_list { /* NAN: not a number */
	double *v;
	size_t n;
};

struct part_metric {
	char *name;
	double mean; /* NAN: absent */
	struct part_list values, blocks, sessions;
};

struct part_quantile { /* a value per run */
	char *hist, *percentile;
	struct part_list values;
};

struct part {
	struct json *rest; /* all but metrics, quantiles, type and v */
	struct part_metric *metrics;
	size_t nmetrics;
	struct part_quantile *quantiles; /* by hist, then percentile */
	size_t nquantiles;
};

/* 'hists': histograms, which are large, are kept. */
struct part_reader *part_reader_new(bool hists);
void part_reader_free(struct part_reader *);

/*
 * Returns false if the text is not a summary record that record_check accepts;
 * record_tree then reports why, or reads another record. The caller frees with
 * part_free.
 */
bool part_read(struct part_reader *, struct part *, const char *text, size_t n);
void part_free(struct part *);

/* Returns the metric of this name, or NULL. */
const struct part_metric *part_metric(const struct part *, const char *name);

/* Were the runs that have the metric counted, every one? */
bool part_is_counted(const struct part *, const char *name);

/* Removes the metric of this name, if there is one. */
void part_drop_metric(struct part *, const char *name);

/* Mean seconds of a run; NAN: not known. */
double part_seconds(const struct part *);

/* Compare by content, for sorting; 0: equal. */
int part_compare(const struct part *, const struct part *);
int part_compare_metrics(const struct part *, const struct part *);

#endif
