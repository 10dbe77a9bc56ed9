/*
 * What it takes to show a change: how large it has to be, or how many runs.
 *
 * The power is .8, averaged over the uncertainty of the estimated noise.
 * With K = change / (estimated standard error), u the ratio of the estimate to
 * the true error and u' the same of another report, the change is found if
 * (Z + K u) / u' > t. u and u' are chi distributed: 1 - 1 / (4 df) on average,
 * with variance 1 / (2 df) (Johnson & Kotz, Continuous Univariate
 * Distributions), so that Z + K u - t u' is nearly normal. The rank tests need
 * a larger change, the more so the closer the smallest p of so many runs is to
 * the level: a factor of 1.02 + .2 sqrt(p_min / level) fits simulations of 5 to
 * 40 runs at levels from .05 to .00015. tests/bench/verdicts confirms the
 * results.
 */
#ifndef NEEDS_H
#define NEEDS_H

#include <stddef.h>

struct verdict_facts;

/*
 * Returns the runs per side (or pairs) that decide the row with power .8 if the
 * truth is the change that was measured: beyond the margin, that show it by a p
 * below 'level'; within it, that show equivalence. At least one more than there
 * are. 0: unknown, as for runs that are not paired, or a million and more.
 */
size_t needs_runs(const struct verdict_facts *, double margin, double level);

/* Returns how many rounds, in which both sides are measured one after the
 * other, decide a row of unpaired runs as needs_runs says; 0: runs are paired,
 * or are autocorrelated with an effective sample size below 4, of which the
 * noise is underestimated, or a million and more. */
size_t needs_rounds(const struct verdict_facts *, double margin, double level);

/* Returns the smallest relative change, at least the margin, that these runs
 * find with power .8 by a p below 'level', as a fraction; NAN: unknown, as for
 * fewer than 8 autocorrelated runs. */
double needs_change(const struct verdict_facts *, double margin, double level);

/* As needs_change, where the standard error is the true one, no estimate. */
double needs_planned_change(
    const struct verdict_facts *, double margin, double level);

#endif
