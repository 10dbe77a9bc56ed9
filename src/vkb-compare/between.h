/*
 * How much sessions of one build differ: the variance of their means of
 * logarithms. The noise of the runs is in it, so that it is too large rather
 * than too small.
 */
#ifndef BETWEEN_H
#define BETWEEN_H

#include "judge/moderate.h"

struct sample;

/* The least degrees of freedom that are used: those of 3 sessions. */
enum { BETWEEN_DF = 2 };

/* The squares that the builds of all cases add up to; zeroed at first. */
struct between {
	double squares, df;
	double of, most;  /* df of a case; those of a session are dependent */
	const char *last; /* the case that 'of' is of */
};

/* Adds a build of the case with this key, which is borrowed; all builds of a
 * case are added one after the other. One with an unknown session, or a value
 * that is not above 0, is left out. */
void between_add(struct between *, const struct sample *build, const char *key);

/* Returns the variance; its df is 0 if there are fewer than BETWEEN_DF. */
struct moderate between_get(const struct between *);

#endif
