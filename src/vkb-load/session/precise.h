/*
 * Precision of the runs of a case: of the median of one build, or of the ratio
 * of each further build to the first one.
 */
#ifndef PRECISE_H
#define PRECISE_H

#include <stdbool.h>
#include <stddef.h>

struct json;
struct looks;

/*
 * Returns half the width of the interval that covers 1 - level, relative to the
 * estimate; INFINITY if there are too few values, or values that have no ratio.
 * NAN as a value: that run is missing.
 *
 * The interval of the median is that of vkb-stats (stats_ci). That of the ratio
 * y/x is that of vkb-compare: Walsh averages if x[i] and y[i] are pairs, and
 * enough for signed ranks to be significant at the level; else Hodges-Lehmann;
 * with too few values for that, Welch's t on logarithms (which assumes
 * lognormal noise).
 */
double precise_median(const double *x, size_t n, double level);
double precise_ratio(
    const double *x, const double *y, size_t n, bool paired, double level);

struct precise;

/* 'looks' and 'cases' are borrowed. */
struct precise *precise_new(const struct looks *, struct json *const *cases,
    size_t ncases, size_t nbuilds, bool paired);
void precise_free(struct precise *);

/* Adds the metrics of a run that succeeded; 'index' is from 1. */
void precise_add(struct precise *, size_t cas, size_t build, size_t index,
    const struct json *metrics);

/* The condition that is farthest from being met. */
struct precision {
	const char *metric; /* borrowed */
	double now, wanted; /* relative half widths */
};

/*
 * Is a case precise after a look (from 0)? Sets the condition above. Leaves out
 * build b if out[b]; a case without builds is not precise.
 */
bool precise_enough(const struct precise *, size_t cas, size_t look,
    const bool *out, struct precision *);

#endif
