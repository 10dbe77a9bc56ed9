/*
 * Differences of two histograms: which quantiles moved, and by how much.
 * Requests are not independent of each other, so the Kolmogorov-Smirnov test
 * has no p here; verdicts come from quantiles of runs.
 *
 * Sources: Kolmogorov-Smirnov, two samples (e.g. Hodges 1958); Wasserstein-1 as
 * the area between the distribution functions; shift
 * function after Doksum (1974), Wilcox (1995).
 */
#ifndef HISTDIFF_H
#define HISTDIFF_H

#include <stdint.h>

struct hist;

struct histdiff {
	double d;   /* largest |F1 - F2|, at the tops of the cells; 0..1 */
	int64_t at; /* the value with that difference */
	double w1;  /* Wasserstein-1, in the unit of the values */
};

/*
 * Compares two histograms; layouts may differ. They are compared where a cell
 * of either ends and no cell of the other is cut; counts lie at the top of
 * their cells. All is NAN if one is empty.
 */
struct histdiff histdiff_ks(const struct hist *, const struct hist *);

/* Quantiles for people: .5 .75 .9 .95 .99 .999 .9999; 0 ends them. */
extern const double histdiff_quantiles[];

/* Returns 1 if n counts are enough for the quantile: n (1 - q) >= 10. */
int histdiff_shown(uint64_t n, double q);

#endif
