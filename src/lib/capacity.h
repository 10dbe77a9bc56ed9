/*
 * The search for a capacity: the highest rate at which a limit holds, where a
 * trial at a rate says only whether it held, and trials are noisy.
 *
 * Method: a Bayesian adaptive staircase, as in psychophysics. A trial at the
 * rate x holds with the probability
 *
 *	guess + (1 - guess - lapse) / (1 + exp((ln x - m) / s))
 *
 * where exp(m) is the capacity, s how gradually the limit is reached, and a
 * lapse a trial that something else disturbed. The posterior of m, s and the
 * lapse is kept on a grid. Each trial is made at a quantile of the posterior of
 * m, around its median: first that brackets, as bisection does, then it repeats
 * trials near the answer. The answer is the median of the posterior of m, its
 * interval that between the quantiles .025 and .975.
 *
 * Sources: Watson and Pelli, QUEST: a Bayesian adaptive psychometric method,
 * Perception & Psychophysics 33 (1983) 113-120; Kontsevich and Tyler, Bayesian
 * adaptive estimation of psychometric slope and threshold, Vision Research 39
 * (1999) 2729-2737; lapses: Wichmann and Hill, The psychometric function I,
 * Perception & Psychophysics 63 (2001) 1293-1313.
 */
#ifndef CAPACITY_H
#define CAPACITY_H

#include <stdbool.h>
#include <stddef.h>

enum { CAPACITY_TRIALS = 25 }; /* at most */
#define CAPACITY_WIDTH .015    /* half of the interval, relative: enough */
#define CAPACITY_DOWN 1024     /* the search goes from start / DOWN */
#define CAPACITY_UP 4          /* to start * UP */

struct capacity;

/* 'start' is a rate near which the capacity is expected, above 0. */
struct capacity *capacity_new(double start);
void capacity_free(struct capacity *);

/* Returns the rate of the next trial, or 0 if there is enough. */
double capacity_next(const struct capacity *);

/* Adds the result of a trial at a rate, which capacity_next returned. */
void capacity_add(struct capacity *, double rate, bool held);

struct capacity_answer {
	double rate, low, high; /* with its interval of 95 % */
	size_t trials, held;    /* all or none held: the capacity is outside of
				 * what was searched */
};

struct capacity_answer capacity_answer(const struct capacity *);

#endif
