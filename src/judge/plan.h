/*
 * What it takes to show a change: how large it has to be, or how many rounds.
 *
 * A case shows its change if the model (odds.h), with the error that is
 * expected of so many rounds, gives it the probability that a claim needs; the
 * power is .8, averaged over the uncertainty of the estimated noise. With K =
 * change / (estimated standard error), u the ratio of the estimate to the true
 * error and u' the same of another report, it is found if (Z + K u) / u' > t. u
 * and u' are chi distributed: 1 - 1 / (4 df) on average, with variance
 * 1 / (2 df) (Johnson & Kotz, Continuous Univariate Distributions), so that
 * Z + K u - t u' is nearly normal. tests/bench/verdicts confirms the results.
 */
#ifndef PLAN_H
#define PLAN_H

#include <stdbool.h>
#include <stddef.h>

#include "claim.h"
#include "moderate.h"

struct model_metric;
struct model_row;

/* What is known of a row, of which more runs are planned. */
struct plan {
	double change;         /* that was measured, in ln(value) */
	struct moderate error; /* of it */
	struct moderate round; /* the difference of the sides of one round; its
				* degrees of freedom are those of 'runs'; 0: of
				* rows that are not paired */
	size_t runs;           /* of the smaller side, or rounds */
	size_t least;          /* rounds to plan, at least */
	double rho;            /* lag-1 autocorrelation of unpaired runs */
	double step;
	double margin;    /* relative, as a fraction */
	double unchanged; /* share of cases that do not change */
	double p;         /* the probability that a claim needs */
	bool known;       /* the error is the true one, no estimate */
};

enum { PLAN_SESSIONS = 3 };

/* The probability that a claim needs, before it is known how many there are:
 * between that of the only one and the least. */
#define PLAN_P (1 - (CLAIM_WRONG + CLAIM_ONE) / 2)

/* Describes a row that was judged; the margin and p are still to be set. */
struct plan plan_describe(
    const struct model_row *, const struct model_metric *);

/*
 * Returns how many rounds, in which both sides are measured one after the
 * other, decide the row with power .8 if the truth is the change that was
 * measured: beyond the margin, that show it; within it, that show that there is
 * none. Rounds that there are count. 0: not paired, unknown, or a million and
 * more.
 */
size_t plan_rounds(const struct plan *);

/*
 * Returns how many sessions of each side, as these, find a change of this size
 * in one of so many cases with power .8, where 'error' is that of so many of
 * each side; at least PLAN_SESSIONS, which measure how much sessions differ. 0:
 * more than 100, or unknown.
 */
size_t plan_sessions(
    const struct plan *, const size_t sessions[2], size_t cases, double change);

/* Returns the smallest relative change, at least the margin, that these runs
 * find with power .8, as a fraction; NAN: unknown, or more than 100 %. */
double plan_change(const struct plan *);

#endif
