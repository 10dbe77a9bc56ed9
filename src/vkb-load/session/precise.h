/*
 * How precisely the runs of a case say what is asked: of one build its median,
 * of several the ratio of each to the first one.
 */
#ifndef PRECISE_H
#define PRECISE_H

#include <stdbool.h>
#include <stddef.h>

struct json;
struct looks;

/*
 * Half the interval that covers 1 - level, relative to the estimate; INFINITY
 * where there are too few values for one, or no ratio. 0: they are all equal.
 *
 * Of the median: as vkb-stats has it (stats_ci). Of the ratio y/x, as
 * vkb-compare judges it: Walsh averages where x[i] and y[i] are a pair and
 * signed ranks of so many can show something at the level, Hodges-Lehmann
 * otherwise; where there are too few for that, t on logarithms (which assumes
 * that the noise is lognormal). NAN among the values: that run is missing.
 */
double precise_median(const double *x, size_t n, double level);
double precise_ratio(
    const double *x, const double *y, size_t n, bool paired, double level);

struct precise;

/* 'looks' and 'cases' are borrowed. */
struct precise *precise_new(const struct looks *, struct json *const *cases,
    size_t ncases, size_t nbuilds, bool paired);
void precise_free(struct precise *);

/* Metrics of a run that went well; 'index' from 1. */
void precise_add(struct precise *, size_t cas, size_t build, size_t index,
    const struct json *metrics);

/* The condition that is farthest from being met. */
struct precision {
	const char *metric; /* borrowed */
	double now, wanted; /* relative half widths */
};

/*
 * After the runs of the given look, from 0; out[b]: that build has none. A
 * case without builds is not precise.
 */
bool precise_enough(const struct precise *, size_t cas, size_t look,
    const bool *out, struct precision *);

#endif
