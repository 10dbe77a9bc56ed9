/*
 * Precision of the runs of a case: of the median of one build, or of the ratio
 * of each further build to the first one.
 */
#ifndef CIWIDTH_H
#define CIWIDTH_H

#include <stdbool.h>
#include <stddef.h>

struct bench_case;
struct json;
struct stopping_rule;
struct str;

/*
 * Returns half the width of the interval that covers 1 - level, relative to the
 * estimate; INFINITY if there are too few values, or values that have no ratio.
 * NAN as a value: that run is missing.
 *
 * The interval of the median is that of vkb-stats (stats_ci). That of the ratio
 * y/x is that of the model (judge/model.h) for this case alone, so that when a
 * case ends does not depend on which others are measured; x[i] and y[i] are of
 * one round if they are paired, and 'clock' is as in judge/sheet.h.
 */
double ci_width_median(const double *x, size_t n, double level);
double ci_width_ratio(const double *x, const double *y, size_t n, bool paired,
    bool clock, double level);

struct ci_width;

/* The rule and the cases are borrowed. */
struct ci_width *ci_width_new(const struct stopping_rule *,
    const struct bench_case *cases, size_t ncases, size_t nbuilds, bool paired);
void ci_width_free(struct ci_width *);

/* Adds the metrics of a run that succeeded; 'index' is from 1. */
void ci_width_add(struct ci_width *, size_t cas, size_t build, size_t index,
    const struct json *metrics);

/* The condition that is farthest from being met. */
struct ci_width_goal {
	const char *metric; /* borrowed */
	double now, wanted; /* relative half widths */
};

/*
 * Is a case precise after a look (from 0)? Sets the condition above. Leaves out
 * build b if out[b]; a case without builds is not precise.
 */
bool ci_width_reached(const struct ci_width *, size_t cas, size_t look,
    const bool *out, struct ci_width_goal *);

/* Adds "rps +-1.4 %, wanted 1 %". */
void ci_width_add_goal(struct str *, const struct ci_width_goal *);

#endif
