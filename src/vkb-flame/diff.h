/*
 * Two sides of profiles, frame by frame: shares of each side, and which of the
 * frames differ by more than chance.
 *
 * The test: z = (b/B - a/A) / sqrt(p (1 - p) (1/A + 1/B)), p = (a + b) / (A +
 * B), where a of A samples of one side are in a frame and b of B of the other;
 * of two or more profiles on each side, whose samples are not independent,
 * Welch's t of the shares of each. Adjusted after Benjamini & Hochberg over
 * all frames with a + b >= 20.
 */
#ifndef DIFF_H
#define DIFF_H

#include <stddef.h>
#include <stdint.h>

struct calltree;

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
	struct diff_frame *v; /* by node: all below it, and itself */
	double *width;        /* mean of both shares */
};

/*
 * Profile i has the columns 2i (weight) and 2i + 1 (samples); the first 'na'
 * of 'n' are the baseline. The tree is summed up.
 */
struct diff *diff_new(const struct calltree *, size_t na, size_t n);
void diff_free(struct diff *);

#endif
