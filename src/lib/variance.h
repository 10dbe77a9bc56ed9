/*
 * Variance components: noise within a run, from run to run, from session to
 * session, from machine to machine, by a nested analysis of variance. Groups
 * may have any sizes.
 *
 * Sources: the method of moments for unbalanced nested designs, Searle,
 * Casella & McCulloch, Variance Components (1992), 5.6 and appendix F; Sokal &
 * Rohlf, Biometry, 10.3. An estimate below 0 is set to 0 and marked 'below'.
 */
#ifndef VARIANCE_H
#define VARIANCE_H

#include <stdbool.h>
#include <stddef.h>

enum variance_source {
	VARIANCE_MACHINE,
	VARIANCE_SESSION,
	VARIANCE_RESTART, /* run to run: each run starts its own server */
	VARIANCE_WITHIN,  /* noise that a longer run would average out */
	VARIANCE_SOURCES
};

const char *variance_source_name(enum variance_source);

struct variance_run {
	double value;
	double within; /* variance of 'value' due to noise inside the run, as
			* from variance_within; NAN: unknown */
	size_t session, machine; /* any numbers that identify them */
};

/*
 * Variance of the mean of n values in time: s^2 / n, times (1 + r) / (1 - r)
 * for a lag-1 autocorrelation r > 0 (first-order autoregression). NAN for
 * n < 8.
 */
double variance_within(const double *v, size_t n);

struct variance_part {
	double var; /* of one run's value; NAN: unknown, e.g. only one */
	size_t n;   /* machines, sessions, runs; within: runs where known */
	bool below; /* the estimate was below 0 */
};

/*
 * A session is on one machine. All var are NAN for n < 2. If 'within' is
 * unknown for any run, restart includes it. If each session (or machine) has
 * one run, its part includes the variance from run to run.
 */
void variance_split(const struct variance_run *, size_t n,
    struct variance_part parts[VARIANCE_SOURCES]);

/* Variance of the mean of all runs: the sum of var / n of the parts. */
double variance_of_mean(const struct variance_part parts[VARIANCE_SOURCES]);

/*
 * Returns how many of one source, in all, with as many parts below each as now,
 * reduce the half width of the mean's interval (normal quantiles) to 'half' at
 * the confidence 'conf'. 0: no number does, because the variance of the sources
 * above is too large, or it is unknown.
 */
size_t variance_needed(const struct variance_part parts[VARIANCE_SOURCES],
    enum variance_source, double half, double conf);

#endif
