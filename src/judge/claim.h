/*
 * Which changes a report may claim: as many as possible of which, on average
 * over them, the model expects one in ten to be wrong (the Bayesian false
 * discovery rate: Newton et al., Biostatistics 5, 2004), and of which none is
 * wrong with a probability above .15; or 'strict', those of which it is at most
 * .1 that any is wrong. The model is cautious: it takes more cases for changed
 * and more noise for possible than there are, so that at most one in twenty
 * reports without a change claims one, but for the few cells of
 * tests/bench/verdicts of which vkb-compare(1) has the rates.
 */
#ifndef CLAIM_H
#define CLAIM_H

#include <stdbool.h>
#include <stddef.h>

#define CLAIM_WRONG .1  /* on average over the claims */
#define CLAIM_ONE .15   /* of each */
#define CLAIM_LIKELY .2 /* of what is called likely */

enum claim_word { CLAIM_NONE, CLAIM_LIKELY_CHANGE, CLAIM_CHANGE };

struct claim {
	double p;    /* probability of the change, in its direction */
	bool beyond; /* the estimate is beyond the margin */
	bool shown;  /* only that: it is chosen among these, not the others */
	enum claim_word word;
};

/* Sets the words. Returns the probability above which one more claim would be
 * made, of those that are not only shown. */
double claim_choose(struct claim *, size_t n, bool strict);

#endif
