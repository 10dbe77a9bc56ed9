/*
 * What the parts of odds.c share: odds_sum.c.
 */
#ifndef ODDS_OWN_H
#define ODDS_OWN_H

#include <stddef.h>

#include "density.h"

#define ODDS_IN_GROUP .9 /* of the changed cases, those that share a change */

enum { ODDS_SHARES = 3, ODDS_SCALES = 5, ODDS_GROUPS = 6 };

/* Where cases that changed may have one change in common. */
struct group {
	double at, wide;
};

/* A place of G on the grid. */
struct place {
	double g, wide;    /* it stands for an interval of this width */
	double alone, all; /* density of G where K is 0, and where not */
	double down; /* probability that K is below 0, where it is not 0 */
	struct density_k k;
	double best; /* logarithm of the weight of its best state */
};

struct odds {
	struct model_row *rows;
	size_t n;
	struct model_metric *metric;
	struct item *items;
	size_t by, nsampled; /* every so many of them say what is common */
	int nscales;
	struct group groups[ODDS_GROUPS + 1];
	size_t ngroups; /* with 0 */
	struct place *places;
	size_t nplaces, cap;
	double *states; /* log weights: place, scale, share, group */
};

/* A share of unchanged cases, where the changed ones form this group; 0: none.
 */
double odds_find_share(int share, size_t group);

/* By how much the variance of T is larger than what is stated. */
double odds_find_scale(const struct odds *, int scale);

/* The log weights of a place and scale: by share, then group. */
double *odds_find_states(const struct odds *, size_t place, int scale);

/* The density of a changed case that is in the group, times the probability
 * that it is; 'more' as in density.h. */
double odds_weigh_group(const struct item *, double more, const struct group *);

/* Sums over all states, and sets the results of the rows and the metric. */
void odds_sum_states(struct odds *);

#endif
