/*
 * What the runs of two sides say of a change: one model behind every verdict.
 *
 * For one metric, the logarithm of the value of case c, side s, session k and
 * time t is
 *
 *	y = mu[c] + s delta[c] + S[k] + T[c,k] + R[k,t] + e[c,s,k,t]
 *
 * S is what a session does to all cases and T what it does to one of them
 * (Kalibera and Jones, "Rigorous Benchmarking in Reasonable Time", ISMM 2013);
 * R is the state of the machine at that time, an autoregression of the first
 * order; e is the rest, with a variance for each case and side. The sides of a
 * round share S, T and R, which cancel there.
 *
 * Each case is reduced to its change, an estimate of delta with the smallest
 * variance, and that variance. The changes of all cases then say
 * together how probable it is that one of them became smaller or larger
 * (odds.h); of these, claims are chosen so that few of them
 * are expected to be wrong (claim.h).
 */
#ifndef MODEL_H
#define MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "moderate.h"

#define MODEL_UNORDERED 1e12

struct model_run {
	double y;         /* ln(value) */
	uint32_t session; /* small numbers: arrays have one element for each */
	double time;      /* the place of the run in its session; from
			   * MODEL_UNORDERED on it is not known */
};

/* Compares places for qsort: session, then time. */
int model_compare_runs(const void *, const void *);

/* One case of a metric. The runs of a side are sorted by session, then time. */
struct model_row {
	const struct model_run *runs[2];
	size_t n[2];
	bool logs;        /* y are logarithms; else as in sheet.h */
	double step;      /* of ln(value): a coarse clock; 0: none */
	double least_var; /* of the change: values are counts of few; 0 */
	double apart; /* variance of what other programs may have done to one
		       * side of this case, beyond what they did to all */

	/* Set by model_judge. Variances are of ln(value). */
	size_t sessions_of[2]; /* of each side; 0: the sides share one */
	size_t rounds;         /* that both sides have */
	size_t pairs; /* of them, compared one by one; 0: two samples */
	double change;
	struct moderate noise[2]; /* of a run, of each side, or [0] of a pair */
	struct moderate own; /* error by what is seen in this case; its df is
			      * below 1 if nothing is known of its noise */
	double sessions;     /* error by T, where that is assumed: a variance */
	double shared;       /* by which S and T count: 0 if sides share them */
	struct moderate error; /* of the change, with the machine's */
	double least; /* the change less the machine's, unless paired */
	double rest;  /* the change less what all have in common */
	struct moderate rest_error;
	double down, up; /* probability that the value fell, or rose */
};

extern const struct model_row model_none; /* of a row without noise */

/* What is known of a metric before its runs are looked at. */
struct model_prior {
	double session_sd, case_sd; /* of S and T, in ln(value) */
	double df;                  /* how well: degrees of freedom, above 0 */
	double sizes;  /* of changes, times those of odds.h; 0: once */
	double others; /* variance of what other programs may have done to one
			* side of all cases */
};

enum { MODEL_MACHINES = 32 };

/* One of several laws that the change of the machine may have. */
struct model_law {
	double weight;
	struct moderate error, noise; /* of all, and without the sessions */
};

struct model_metric {
	bool separate; /* enough cases to tell the machine from them */
	bool known;    /* enough sessions to tell how much they differ */
	double sizes;  /* as in the prior */
	double rho;    /* lag-1 autocorrelation of the runs of a case */
	double session_sd;
	struct model_law laws[MODEL_MACHINES]; /* of the machine's change */
	size_t nlaws;
	struct moderate sessions; /* their error in it, and of other programs */
	double machine;           /* the machine's change, as far as is seen */
	struct moderate machine_error;
	double moved; /* what all cases have in common, the machine's or not */
	struct moderate moved_error;
	double common;    /* the change of all cases, if they have one */
	double down, up;  /* probability that all cases fell, or rose */
	double unchanged; /* expected share of cases that did not change */
};

enum {
	MODEL_SEPARATE = 3, /* cases */
	MODEL_SESSIONS = 5, /* of one side, that measure how much they differ */
	MODEL_PAIRS = 3     /* rounds */
};

/* Sets the results of n rows of one metric. The cost is linear in the runs. */
void model_judge(struct model_row *, size_t n, const struct model_prior *,
    struct model_metric *);

/* Returns half of the width of the interval of a row's change that covers the
 * truth with the probability 'conf'. */
double model_half_width(const struct model_row *, double conf);

#endif
