/*
 * The change of each case of a metric, and how uncertain it is.
 *
 * Runs of common rounds are compared one by one if there are enough of them.
 * Else the means of the sessions are combined by generalized least squares:
 * a session that both sides share cancels as far as it is shared, and one that
 * they do not share leaves its variance. Variances of a case and side are
 * shrunk towards those of the same side (moderate.h).
 *
 * Noise that all cases share, as seen where three and more were measured at
 * one time, belongs to the machine: it is taken from the residuals and becomes
 * part of the machine's change. Its autocorrelation is not known, so the laws
 * of that change are a mixture over several values, weighted by the likelihood
 * of what was seen.
 *
 * From MODEL_SESSIONS sessions of one side on S and T are measured. With fewer
 * they are as stated, or from half to twice that.
 */
#ifndef EFFECT_H
#define EFFECT_H

#include <stddef.h>

struct model_metric;
struct model_prior;
struct model_row;

/* Sets of the rows all above 'error', and of the metric all above 'machine'. */
void effect_estimate(struct model_row *, size_t n, const struct model_prior *,
    struct model_metric *);

#endif
