/*
 * Where the noise comes from: within a run, from run to run, from session to
 * session, from machine to machine. A nested analysis of variance; groups may
 * have any sizes.
 *
 * Sources: the method of moments for unbalanced nested designs, Searle,
 * Casella & McCulloch, Variance Components (1992), 5.6 and appendix F; Sokal &
 * Rohlf, Biometry, 10.3. What comes out below 0 is 0, and said.
 */
#ifndef VARSPLIT_H
#define VARSPLIT_H

#include <stdbool.h>
#include <stddef.h>

enum varsplit_source {
	VARSPLIT_MACHINE,
	VARSPLIT_SESSION,
	VARSPLIT_RESTART, /* run to run: each run is a server of its own */
	VARSPLIT_WITHIN,  /* what a longer run would level out */
	VARSPLIT_SOURCES
};

const char *varsplit_source_name(enum varsplit_source);

struct varsplit_run {
	double value;
	double within; /* variance of value by the noise inside of the run, e.g.
			* that of its intervals / their number; NAN: unknown */
	size_t session, machine; /* any numbers, equal for equal ones */
};

/*
 * Variance of the mean of n values in time, by their own noise: s^2 / n, and
 * more where neighbours are alike, (1 + r) / (1 - r) times that for a lag-1
 * autocorrelation r > 0 (as of a first-order autoregression). NAN for n < 8.
 */
double varsplit_within(const double *v, size_t n);

struct varsplit_part {
	double var; /* of one run's value; NAN: there is but one of these */
	size_t n;   /* machines, sessions, runs; of within: runs that know it */
	bool below; /* the estimate was below 0 */
};

/*
 * A session is one of one machine. All var NAN for n < 2; restart holds what
 * is within where that is unknown of a run, and sessions (or machines) of one
 * run each hold what is from run to run.
 */
void varsplit(const struct varsplit_run *, size_t n,
    struct varsplit_part parts[VARSPLIT_SOURCES]);

/* Variance of the mean of all, each part over its number. */
double varsplit_of_mean(const struct varsplit_part parts[VARSPLIT_SOURCES]);

/*
 * How many of one source, in all, each as full as now, bring the half width of
 * the mean's interval (normal quantiles) down to 'half' at this level of
 * confidence. 0: no number does, as what is above it is too wide, or unknown.
 */
size_t varsplit_needed(const struct varsplit_part parts[VARSPLIT_SOURCES],
    enum varsplit_source, double half, double conf);

#endif
