/*
 * When a case of a session with a budget ends: when it is decided whether the
 * builds differ in it.
 *
 * Judged are the primary metric (metric.h) and in a closed loop the CPU time of
 * the server per request, where it is known. A metric changed if the model
 * (judge/model.h) gives that a probability of .99, with which nearly every
 * report claims it, too, and its estimate lies beyond its margin; it is the
 * same if its interval at 95 % lies within the margin; else it is open. The
 * model is asked of this case alone, so that when a case ends does not depend
 * on which others are measured. With one build there is nothing to compare: a
 * metric is the same if the interval of its median lies within the margin.
 *
 * The noise so far says how many runs would decide an open metric: about, as
 * vkb-compare plans them (judge/plan.h); and at least, where its interval would
 * still be half as wide again as the margin, and at 99 % would include no
 * change even if the change were larger than its estimate by more than a
 * standard error.
 */
#ifndef DECIDING_H
#define DECIDING_H

#include <stdbool.h>
#include <stddef.h>

struct bench_case;
struct json;
struct str;

enum deciding_state { DECIDING_OPEN, DECIDING_SAME, DECIDING_CHANGED };

/* What n runs say of a metric. */
struct deciding_view {
	enum deciding_state state;
	double width;         /* half of the interval at 95 %, relative to the
			       * estimate; INFINITY: not known */
	double least, needed; /* runs of each build that decide it, at least
			       * and about, while it is open; INFINITY: no
			       * number does; NAN: not known */
};

/*
 * Compares y with x, or looks at x alone. NAN as a value: that run is missing;
 * x[i] and y[i] are of one round. 'clock' is as in
 * judge/sheet.h, the margin is relative.
 */
struct deciding_view deciding_compare(
    const double *x, const double *y, size_t n, bool clock, double margin);
struct deciding_view deciding_measure(const double *x, size_t n, double margin);

struct deciding;

/* The cases are borrowed. */
struct deciding *deciding_new(
    const struct bench_case *cases, size_t ncases, size_t nbuilds);
void deciding_free(struct deciding *);

/* Adds the metrics of a run that succeeded; 'index' is from 1. */
void deciding_add(struct deciding *, size_t cas, size_t build, size_t index,
    const struct json *metrics);

/* What runs say of a case. */
struct deciding_case {
	enum deciding_state state;
	double least, needed; /* of its open metrics: fewer runs decide none,
			       * and so many all; NAN: not known */
};

/*
 * Returns what the first 'runs' runs of a case say, without build b if out[b].
 * The case is open if one of its builds is: that is decided if one of its
 * metrics changed or none is open. Adds the open metrics to 'open':
 * "rps +-2.9 %, margin 2 %".
 */
struct deciding_case deciding_look(const struct deciding *, size_t cas,
    size_t runs, const bool *out, struct str *open);

#endif
