/*
 * Compares two sides of profiles: the shares of samples, whose differences are
 * tested, or exact counts.
 */
#ifndef DIFF_H
#define DIFF_H

#include <stddef.h>
#include <stdint.h>

struct calltree;

#define DIFF_ALPHA .05
#define DIFF_FEWEST 20  /* samples of both sides, needed for a test */
#define DIFF_EXACT 1e-4 /* of all counts: a smaller change is DIFF_SAME */

/*
 * Returns the p-value of a difference in the share of a part. The first 'na' of
 * n profiles are one side; part[i] of whole[i] samples. With one profile on a
 * side, z = (b/B - a/A) / sqrt(p (1 - p) (1/A + 1/B)), p = (a + b) / (A + B),
 * with the sums of each side. With two or more on each side, whose samples are
 * not independent, Welch's t of their shares. NAN: too few samples.
 */
double diff_test(const double *part, const double *whole, size_t na, size_t n);

/* Adjusts the p-values that are not NAN in place (Benjamini & Hochberg). */
void diff_adjust(double *p, size_t n);

enum diff_kind {
	DIFF_RARE,   /* too few samples to be tested */
	DIFF_SAME,   /* no significant difference */
	DIFF_MOVED,  /* offset by the opposite change of one sibling */
	DIFF_CHANGED /* significant difference; with counts, any */
};

struct diff_frame {
	double a, b; /* shares on both sides, or counts */
	double p;    /* adjusted; NAN: not tested */
	enum diff_kind kind;
	uint32_t with; /* DIFF_MOVED: the sibling */
};

struct diff {
	const char *unit;     /* of counts; NULL: shares of samples */
	struct diff_frame *v; /* by node: the node and all below it */
	double *width;        /* by node: mean of both sides */
	double *self[2];      /* by node: summed weights of each side */
};

/*
 * Compares the frames of a summed tree. Profile i has the columns 2i (weight)
 * and 2i + 1 (samples); the first 'na' of 'n' are the baseline.
 *
 * A frame that differs is DIFF_MOVED, not DIFF_CHANGED, if its caller does not
 * differ and one sibling changed the other way by at least half as much. The
 * sibling must also have changed within the samples without this frame, because
 * all shares shrink when one grows. Frames below a moved frame that changed in
 * the same direction have moved too.
 */
struct diff *diff_new(const struct calltree *, size_t na, size_t n);

/* The same for counts, in these columns; 'unit' is borrowed. Nothing is tested:
 * a frame is DIFF_CHANGED or DIFF_SAME, and p is NAN. */
struct diff *diff_new_exact(
    const struct calltree *, size_t before, size_t after, const char *unit);

void diff_free(struct diff *);

#endif
