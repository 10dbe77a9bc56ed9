/*
 * Two sides of profiles: shares of each, and what differs by more than chance.
 */
#ifndef DIFF_H
#define DIFF_H

#include <stddef.h>
#include <stdint.h>

struct calltree;

#define DIFF_ALPHA .05
#define DIFF_FEWEST 20 /* samples of both sides that are tested */

/*
 * The p of a part's share, by n profiles of which the first 'na' are one side:
 * part[i] of whole[i] samples. Of one profile a side z = (b/B - a/A) /
 * sqrt(p (1 - p) (1/A + 1/B)), p = (a + b) / (A + B), with the sums of each
 * side; of two or more, whose samples are not independent, Welch's t of the
 * shares of each. NAN where there are too few samples.
 */
double diff_p(const double *part, const double *whole, size_t na, size_t n);

/* Benjamini & Hochberg over all that are not NAN, in place. */
void diff_adjust(double *p, size_t n);

enum diff_kind {
	DIFF_RARE,   /* too few samples to be tested */
	DIFF_SAME,   /* not shown to differ */
	DIFF_MOVED,  /* its change is offset by one sibling */
	DIFF_CHANGED /* differs */
};

struct diff_frame {
	double a, b; /* shares of both sides */
	double p;    /* adjusted; NAN: not tested */
	enum diff_kind kind;
	uint32_t with; /* DIFF_MOVED: the sibling */
};

struct diff {
	struct diff_frame *v; /* by node: itself and all below it */
	double *width;        /* mean of both shares */
	double *self[2];      /* by node: weights of both sides, added up */
};

/*
 * Profile i has the columns 2i (weight) and 2i + 1 (samples); the first 'na'
 * of 'n' are the baseline. The tree is summed up.
 *
 * A frame that differs has moved its cost, and is not changed, where its
 * caller does not differ, one sibling changed the other way by half as much
 * or more, and did so also among what is left without this frame: that
 * others must shrink where one grows is no offset. What is below a moved
 * frame has moved with it.
 */
struct diff *diff_new(const struct calltree *, size_t na, size_t n);
void diff_free(struct diff *);

#endif
