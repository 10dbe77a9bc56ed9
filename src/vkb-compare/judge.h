/*
 * The comparison itself: baseline against each contender, metric by metric.
 */
#ifndef JUDGE_H
#define JUDGE_H

#include <stdbool.h>
#include <stddef.h>

#include "pairing.h"
#include "rules.h"
#include "sample.h"
#include "verdict.h"

#define JUDGE_ALPHA .05

struct casename;

struct row {
	const struct pairing *pair;
	char *name; /* of the metric */
	struct metric metric;
	bool gate;
	double margin;
	char margin_sign; /* '+' or '-' where it was asked for; else '\0' */
	const char *margin_from;     /* table, option, policy or history */
	bool margin_auto;            /* it is to come from the history */
	bool exact;                  /* no test: assumed to be without noise */
	struct policy_waiver waiver; /* .reason NULL: none */
	bool waived;                 /* a regression that does not count */
	struct sample used[2];       /* what went into the test */
	struct verdict_facts facts;
	double p;     /* adjusted; NAN: there was no test */
	double level; /* what the looks left of alpha; NAN: no looks */
	enum verdict verdict;
	bool certain;
	size_t needed;  /* runs a side (rounds); 0: not known */
	double visible; /* smallest change it can show; NAN */
	double minutes; /* for the runs that lack; NAN: not known */
	size_t dropped; /* runs without a partner, left out */
	bool client_bound;
	bool keys_differ; /* the value grows with the keys, of which the faster
			   * side has more */
	double weight;    /* of its p, when it is adjusted; 1 on average */
};

struct difference { /* of an environment */
	char *name, *values[2];
	size_t cases;
};

struct lonely { /* a gate that one side lacks */
	char *name;
	size_t side; /* that has it */
	size_t cases;
};

struct overall { /* geometric mean over the cases, of one metric */
	char *name;
	size_t cases;
	double ratio, lo, hi;
	double lo_runs, hi_runs; /* over the runs of these cases; NAN */
};

struct lapse { /* a rule of the policy that did nothing, or too little */
	const char *rule, *what;      /* "unused", "expired", "exceeded" */
	const char *reason, *expires; /* NULL: it has no waiver */
};

struct canary { /* a case that must not change, against what it was held */
	const char *name, *metric; /* of the case; metric NULL: it is missing */
	struct verdict_facts facts;
	enum verdict verdict;
	bool ok;
};

/* A level that was worked out: most cases have the same looks. */
struct looked {
	double *looks;
	size_t k, n;
	double level;
};

struct comparison {
	const struct json *subject[2];
	char *name[2];
	struct pairing *pairs;
	size_t npairs;
	struct row *rows; /* in the order of cases, then metrics */
	size_t nrows, cap;
	struct difference *differences;
	size_t ndifferences;
	struct lonely *lonely;
	size_t nlonely;
	struct overall *overall;
	size_t noverall;
	struct lapse *lapses; /* of the whole report: in the first */
	size_t nlapses;
	struct canary *canaries;
	size_t ncanaries;
	size_t count[VERDICTS]; /* gate rows, without those waived */
	size_t waived;          /* gate rows */
	size_t short_history;   /* rows whose history gives no margin */
	size_t matched, unmatched[2];
	double failed_runs; /* of the contender */
	size_t paired;      /* gate rows that were paired */
	size_t lifted;      /* of these, with the p of runs that are not */
	size_t family;      /* tests that p was adjusted for */
	size_t second;      /* of these, of metrics that weigh half */
	struct looked levels[2][2]; /* the last, by side; for ci95 and ci90 */
};

/* Pairs, measures and compares environments; decide_all gives the verdicts. */
void judge_compare(struct comparison *, const struct cases *base, size_t who,
    const struct cases *contender, size_t contender_who, const struct rules *);

void judge_free(struct comparison *);

/* A p of a row as it is held against JUDGE_ALPHA, before it is adjusted. */
double judge_p(const struct row *, double p);

/* Names of the cases that are not all failed; casename_free. */
struct casename *judge_names(const struct comparison *);

#endif
