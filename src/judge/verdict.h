/*
 * The verdict on one metric of one case, by the model (model.h), or by the
 * values of metrics without noise. x is the baseline, y the contender.
 *
 * A change is reported if it is claimed (claim.h), and its estimate, which the
 * report shows, is beyond the margin, as is what is left of it without what the
 * machine did (nothing where runs are paired); "no change" if the 90 % interval
 * is within the margin (two one-sided tests, Schuirmann 1987); otherwise the
 * row is undecided. Without noise, runs that differ show a change, or none, if
 * all of their ratios do.
 */
#ifndef VERDICT_H
#define VERDICT_H

#include <stdbool.h>
#include <stddef.h>

#include "claim.h"
#include "metric.h"

struct model_row;

enum verdict {
	VERDICT_REGRESSION,
	VERDICT_IMPROVEMENT,
	VERDICT_DIFFERENT,         /* a change; neither direction is better */
	VERDICT_LIKELY_REGRESSION, /* probable, not enough to claim it */
	VERDICT_LIKELY_IMPROVEMENT,
	VERDICT_LIKELY_DIFFERENT,
	VERDICT_EQUIVALENT,
	VERDICT_INCONCLUSIVE,
	VERDICT_INSUFFICIENT,
	VERDICTS
};

const char *verdict_name(enum verdict);

/* Returns the verdict of this name, VERDICTS if there is none. */
enum verdict verdict_find(const char *name);

/* All verdicts: those that need most attention first. */
extern const enum verdict verdict_order[VERDICTS];
size_t verdict_rank(enum verdict); /* its place there; VERDICTS is last */

/* Returns the first of them that was counted, VERDICTS if none was. */
enum verdict verdict_foremost(const size_t count[VERDICTS]);

/* Returns "worse", "likely better", "no change", ...: for people. */
const char *verdict_word(enum verdict);

/* Returns "up from 0" or the like for a value that is 0 now or was, so that a
 * percentage is not defined; NULL: it has a ratio, or is below 0, or NAN. */
const char *verdict_name_zero(double before, double now);

bool verdict_is_likely(enum verdict);

/* Returns the verdict of a change up, or down. */
enum verdict verdict_direction(enum metric_better, bool up);

/* Are too many runs needed to advise them: for more than an hour, or if the
 * minutes are not known, NAN, more than 100, and more than ten times those that
 * a side has? */
bool verdict_is_hopeless(double needed, double have, double minutes);

enum { VERDICT_RUNS = 4 }; /* of a side, at least */

/* Results of the comparison; NAN: not defined. */
struct verdict_facts {
	size_t m, n;
	bool paired;
	bool assumed; /* without noise: one value is enough */
	bool up;      /* the likelier direction is that of a higher value */
	const char *method; /* rounds, runs, sessions, identical, assumed */
	double median[2];
	double ratio; /* y over x */
	double lo95, hi95, lo90, hi90;
	double change; /* ln(ratio), or if there is none, as in sheet.h */
	double se, df; /* of 'change' */
	double wide;   /* half of its 90 % interval */
	double least;  /* as 'change', but what the machine did is left out */
	double
	    rest;  /* as 'change', relative to the other cases; NAN: has none */
	double p;  /* probability of a change in its likelier direction */
	double sd; /* without noise: 0 if no side varies, else NAN */
};

/* Returns facts with the medians set and all results undefined. */
struct verdict_facts verdict_start(
    const double *x, size_t m, const double *y, size_t n);

/* Sets the change, its error and the 95 % interval by a row that was judged. */
void verdict_take_change(struct verdict_facts *, const struct model_row *);

/* Sets all results by it. */
void verdict_take(struct verdict_facts *, const struct model_row *);

/* Makes both sides the same measurement: the ratio is 1, whatever the noise. */
void verdict_make_identical(struct verdict_facts *);

/*
 * For a metric without noise: compares the medians. The intervals are set if no
 * side varies and each has two values; if a side varies they hold all ratios of
 * its values. m, n >= 1.
 */
struct verdict_facts verdict_measure_exact(
    const double *x, size_t m, const double *y, size_t n);

/* Is it a metric without noise whose runs differ, which is judged by their
 * spread? */
bool verdict_is_spread(const struct verdict_facts *);

/* Is an estimate, in ln(value), beyond the margin in the likelier direction? */
bool verdict_is_beyond(
    const struct verdict_facts *, double estimate, double margin);

/* Returns what the model says for a choice among all claims of a report. */
struct claim verdict_make_claim(const struct verdict_facts *, double margin);

enum verdict verdict_decide(const struct verdict_facts *, enum metric_better,
    double margin, enum claim_word);

/* What another metric of a case shows. */
struct verdict_other {
	const char *name;
	const struct verdict_facts *facts;
	enum verdict verdict;
	bool time; /* it is the time by which the case is judged */
};

#define VERDICT_SLIGHT .01 /* a smaller rise of a count alone is slight */

/* Is it a rise of instructions by less than VERDICT_SLIGHT, which a case whose
 * time did not change may have? */
bool verdict_is_slight(const char *name, const struct verdict_facts *rise);

/* Returns "not slower", or "outweighed by less work or time". */
const char *verdict_name_outweighed(
    const char *name, const struct verdict_facts *rise);

/*
 * Does the other metric of the same case outweigh a rise of the metric 'name',
 * so that it is different and not worse? A slight rise of instructions is
 * outweighed by the time of the case, if that is equivalent or better. The
 * others need one that is better: allocations and system calls are means, so
 * fewer instructions or less time, also if that is only likely, outweigh more
 * allocations, and less time outweighs more system calls. Instructions do not
 * hold the work of the kernel, so they outweigh these only where many are saved
 * for each call.
 */
bool verdict_outweighs(const struct verdict_other *, const char *name,
    const struct verdict_facts *rise);

#endif
