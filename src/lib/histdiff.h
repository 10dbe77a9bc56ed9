/*
 * How two histograms differ: which quantiles moved, and by how much. Requests
 * are not independent of each other, so p of the Kolmogorov-Smirnov test is
 * for show: what is judged are quantiles of runs.
 *
 * Sources: Kolmogorov-Smirnov, two samples (e.g. Hodges 1958), its asymptotic
 * p; Wasserstein-1 as the area between the distribution functions; shift
 * function after Doksum (1974), Wilcox (1995).
 */
#ifndef HISTDIFF_H
#define HISTDIFF_H

#include <stdint.h>

struct hist;

struct histdiff {
	double d;   /* largest |F1 - F2|, at the tops of the cells; 0..1 */
	int64_t at; /* where: the value */
	double p;   /* asymptotic; as if requests were independent */
	double w1;  /* Wasserstein-1, in the unit of the values */
};

/*
 * Layouts may differ: they are compared where a cell of either ends and none
 * of the other is cut; each count stands at the top of its cell. All NAN where
 * one is empty.
 */
struct histdiff histdiff_ks(const struct hist *, const struct hist *);

/* As people read latencies: .5 .75 .9 .95 .99 .999 .9999; 0 ends it. */
extern const double histdiff_quantiles[];

/* Are there enough counts for it: n (1 - q) >= 10. */
int histdiff_shown(uint64_t n, double q);

#endif
