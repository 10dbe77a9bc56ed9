/*
 * Variances of few values, shrunk towards what all rows of a report suggest.
 *
 * A variance of 5 values alone is very uncertain; the variances of many rows of
 * one metric say how large it usually is, and how much it differs between
 * rows. The scaled F distribution of variances is fitted by its logarithm's
 * mean and variance, and the t test with the shrunk variance has the degrees
 * of freedom of both: Smyth, Stat. Appl. Genet. Mol. Biol. 3 (2004), article 3.
 * A row whose variance is far beyond the others keeps its own, as in Phipson
 * et al., Ann. Appl. Stat. 10 (2016), so that it is not taken for a quiet one.
 */
#ifndef MODERATE_H
#define MODERATE_H

#include <stddef.h>

/* A variance and its degrees of freedom; df 0: it is not known. */
struct moderate {
	double var, df;
};

/*
 * Returns the prior of n variances. df is 0 if fewer than 3 of them have
 * degrees of freedom, and at most the sum of theirs.
 */
struct moderate moderate_prior(const struct moderate *, size_t n);

/* Returns the variance 'own' shrunk towards the prior; itself if it is above
 * those of 9 in 10 rows that the prior describes. */
struct moderate moderate_shrink(
    struct moderate own, const struct moderate *prior);

/* Returns the mean of two variances, by their degrees of freedom; one without
 * any is not known, and the other is returned. */
struct moderate moderate_pool(struct moderate a, struct moderate b);

/* Returns the sum of two variances, after Welch (1947) and Satterthwaite
 * (1946); 'a' if b is not above 0. */
struct moderate moderate_add(struct moderate a, struct moderate b);

#endif
