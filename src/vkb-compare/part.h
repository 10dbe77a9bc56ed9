/*
 * A summary record as a comparison needs it: its lists of numbers are arrays,
 * read from the text without a tree; all else is a small tree.
 */
#ifndef PART_H
#define PART_H

#include <stdbool.h>
#include <stddef.h>

struct json;

struct part_list { /* NAN: what was no number */
	double *v;
	size_t n;
};

struct part_metric {
	char *name;
	double mean; /* NAN: absent */
	struct part_list values, blocks, sessions;
};

struct part_quantile { /* its value in each run */
	char *hist, *percentile;
	struct part_list values;
};

struct part {
	struct json *rest; /* metrics are {}, quantiles are absent */
	struct part_metric *metrics;
	size_t nmetrics;
	struct part_quantile *quantiles; /* by hist, then percentile */
	size_t nquantiles;
};

/*
 * False: the text is no summary record, or no JSON; record_tree has the words.
 * Otherwise part_free frees it, and record_check is to look at the rest.
 * Histograms are large: they are left out unless 'hists'.
 */
bool part_read(struct part *, const char *text, size_t n, bool hists);
void part_free(struct part *);

/* NULL: it has none of this name. */
const struct part_metric *part_metric(const struct part *, const char *name);

/* That a run took, in the mean; NAN: not known. */
double part_seconds(const struct part *);

/* An order that is the same for equal content; 0: they say the same. */
int part_compare(const struct part *, const struct part *);
int part_compare_metrics(const struct part *, const struct part *);

#endif
