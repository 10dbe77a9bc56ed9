/*
 * How probable it is that a case changed, by what all cases say together.
 *
 * The changes D of the cases are centred at G = M + K: M is what the machine
 * did, with the laws of model.h; K is a change that all cases share, and 0
 * with probability .95. A case has its own change beside that with a
 * probability that is not known: one of several values. Own changes have any
 * size: a mixture of normal laws from 3 to 100 %, or of multiples of that.
 * Several cases that changed may share one change, as where one function became
 * slower; so for each group of neighbouring D there is a hypothesis that
 * changed cases lie there. The errors of D are Student's t.
 *
 * This is summed over a grid of G, of how much sessions differ from case to
 * case, of the share of unchanged cases and of the groups. A step of a coarse
 * clock explains any D that is not beyond it.
 */
#ifndef ODDS_H
#define ODDS_H

#include <stddef.h>

#include "moderate.h"

#define ODDS_ALL_CHANGED .05 /* probability of K before anything is seen */

struct model_metric;
struct model_row;

/* Sets the errors, the rest and the probabilities of the rows, and of the
 * metric what the machine did and what all cases have in common. */
void odds_judge(struct model_row *, size_t n, struct model_metric *);

/* How well one change agrees with no own change, and with one of any size. */
struct odds_one {
	double unchanged, changed; /* densities */
	double down;               /* that it is below 0, if it changed */
};

struct odds_one odds_weigh(double change, struct moderate error, double step);

#endif
