/*
 * Compares a baseline with a contender, metric by metric.
 */
#ifndef JUDGE_H
#define JUDGE_H

#include <stdbool.h>
#include <stddef.h>

#include "family.h"
#include "pairing.h"
#include "rules.h"
#include "sample.h"
#include "judge/verdict.h"

#define JUDGE_ALPHA FAMILY_ALPHA

struct row {
	const struct pairing *pair;
	char *name; /* of the metric */
	struct metric metric;
	bool gate;
	bool primary; /* of its case; common: of a case */
	bool common;  /* what all cases have in common (apart.h) */
	double margin;
	char margin_sign; /* '+' or '-' if the user gave one; else '\0' */
	const char *margin_from;     /* table, option, policy or history */
	bool margin_auto;            /* widen it by the history */
	bool exact;                  /* no test: assumed to have no noise */
	struct policy_waiver waiver; /* .reason NULL: none */
	/* Between sessions, of ln(value), where it is not measured: of the
	 * policy, until apart.c sets it; df 0: not known. */
	struct moderate session;
	const char *session_from; /* as in struct comparison */
	bool waived;              /* a regression that does not fail */
	struct sample used[2];    /* values in the test, by side */
	struct verdict_facts facts;
	size_t
	    sessions[2]; /* if it has noise and its sides share none, else 0 */
	struct verdict_facts rest; /* the change less the common one */
	bool has_rest;
	double p;              /* adjusted; NAN: there was no test */
	double level, level10; /* left of .05 and .10 by sequential looks */
	bool looked;           /* a side ended when it was precise enough */
	enum verdict verdict;
	bool certain;
	bool outweighed; /* more allocations, but less work or time */
	bool unchanged;  /* known from the servers (sameserver.h) */
	bool noise;      /* hence equivalent, whatever the tests say */
	size_t needed;   /* runs per side (rounds); 0: not known */
	size_t rounds; /* interleaved, of autocorrelated runs; 0: as 'needed' */
	double visible; /* smallest relative change it can show; NAN */
	double minutes; /* for the missing runs; NAN: not known */
	size_t dropped; /* runs without a partner, left out */
	size_t shared;  /* rounds of both sides, where too few to pair */
	bool client_bound;
	bool builds_differ; /* a count, of builds made otherwise */
	bool keys_differ;   /* grows with the number of keys, which differs */
	bool loads_differ;  /* one side was counted, by fewer requests */
	bool unreached;     /* a latency, and a side did not reach its rate */
	const char *notes;  /* of a row read from a record; NULL: judged here */
	const char *reason; /* of such a row that is undecided */
};

struct difference { /* a value of the environment that differs */
	char *name, *values[2];
	size_t cases;
};

struct one_sided_gate { /* a gate that one side lacks */
	char *name;
	size_t side; /* the one that has it */
	size_t cases;
	bool optional; /* a counted metric, which one side may lack */
};

struct overall { /* geometric mean over the cases, of one metric */
	char *name;
	size_t cases;
	double ratio, lo, hi;
	double lo_runs, hi_runs; /* interval of these cases; NAN */
};

struct rule_issue { /* a rule or waiver of the policy without effect */
	const char *rule, *what;      /* "unused", "expired", "exceeded" */
	const char *reason, *expires; /* NULL: it has no waiver */
};

struct canary {                    /* a case that must not change */
	const char *name, *metric; /* of the case; metric NULL: it is missing */
	struct verdict_facts facts;
	enum verdict verdict;
	bool ok;
};

/* A computed level, cached: most cases have the same looks. */
struct cached_level {
	double *looks;
	size_t k, n;
	double level;
};

struct comparison {
	const struct json *record; /* it was read from; NULL: judged here */
	const struct json *subject[2];
	char *name[2];
	char *common; /* what all cases share: "50 clients, 64-byte values" */
	struct pairing *pairs;
	size_t npairs;
	struct row *rows; /* in the order of cases, then metrics */
	size_t nrows, cap;
	struct difference *differences;
	size_t ndifferences;
	struct one_sided_gate *one_sided;
	size_t one_sided_count;
	struct overall *overall;
	size_t noverall;
	struct rule_issue
	    *rule_issues; /* of the whole report, in the first comparison */
	size_t nrule_issues;
	struct canary *canaries;
	size_t ncanaries;
	size_t count[VERDICTS]; /* gate rows that are not waived */
	size_t waived;          /* gate rows */
	size_t short_history;   /* rows whose history gives no margin */
	size_t matched, unmatched[2];
	double failed_runs; /* of the contender */
	size_t paired;      /* gate rows that were paired */
	size_t sessions[2]; /* if the sides share none, else 0 */
	/* Between sessions, of ln(value), and its source: "default", "policy"
	 * or "history"; NULL: the sides share one, or it is measured. */
	double session_sd;
	const char *session_from;
	bool unnamed_sessions; /* of some runs: they count as one */
	/* What likely regressions do to a CI job, "ok" or "fail"; NULL: the
	 * headline does not say it. */
	const char *on_likely;
	struct row *commons; /* made by apart.c, then moved to 'rows' */
	size_t ncommons;
	struct pairing everything; /* stands for all cases */
	double serial; /* lag-1 autocorrelation of unpaired runs, or 0 */
	size_t tests[FAMILIES]; /* in the adjustment of p, of all comparisons */
	double alpha[FAMILIES]; /* their shares of JUDGE_ALPHA */
	struct cached_level levels[2][2]; /* cache by side; for ci95 and ci90 */
};

/* Pairs the cases, tests each metric and compares the environments; decide_all
 * then sets the verdicts. The comparison borrows from both sets of cases. */
void judge_compare(struct comparison *, const struct cases *base, size_t who,
    const struct cases *contender, size_t contender_who, const struct rules *);

/* Sets the names of the cases of the pairs, and what all of them share. */
void judge_name_pairs(struct comparison *);

void judge_free(struct comparison *);

/* Returns the family of a row that is tested, or FAMILIES. */
enum test_family judge_family(const struct row *);

/* Scales p of a row, which looks make smaller than it is, so that it can be
 * compared with JUDGE_ALPHA. */
double judge_p(const struct row *, double p);

#endif
