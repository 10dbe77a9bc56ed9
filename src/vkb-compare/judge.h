/*
 * Compares a baseline with a contender, metric by metric.
 */
#ifndef JUDGE_H
#define JUDGE_H

#include <stdbool.h>
#include <stddef.h>

#include "cases.h"
#include "rare.h"
#include "reference.h"
#include "rules.h"
#include "sample.h"
#include "sessions.h"
#include "judge/model.h"
#include "judge/verdict.h"

struct pairing { /* a case of the baseline and one of the contender */
	const struct kase *side[2]; /* baseline, contender; NULL: no partner */
	char *note;                 /* keys that only one side has, or NULL */
	char *name[2];   /* of the case on each side, for people; NULL: no
			  * partner */
	size_t rows;     /* metrics compared */
	char *functions; /* what accounts for a change of its instructions, or
			  * NULL */
	char *syscalls;  /* those that changed, or NULL */
	char *together;  /* what its count and time say (report.h), or NULL */
	enum reference_state reference; /* set by reference.c */
	double busy[2]; /* percent of other programs; set by busy.c */
};

struct row {
	const struct pairing *pair;
	const char *name; /* of the metric; borrowed */
	const struct metric *metric;
	double margin;
	const char *margin_from; /* table, option, policy or history */
	char margin_sign; /* '+' or '-' if the user gave one; else '\0' */
	bool margin_auto; /* widen it by the history */
	bool gate;
	bool primary;    /* of its case; common: of a case */
	bool common;     /* what all cases have in common (infer.h) */
	bool exact;      /* no test: assumed to have no noise */
	bool waived;     /* a regression that does not fail */
	bool has_rest;   /* the model has its change relative to other cases */
	bool busy;       /* its error allows for other programs on one side */
	bool outweighed; /* more of a means, but less work or time; or slightly
			  * more instructions, in the same time */
	bool noise; /* equivalent, whatever the tests say, as is known from the
		     * servers (decide.c) */
	bool client_bound;
	bool builds_differ; /* a count, of builds made otherwise */
	bool keys_differ;   /* grows with the number of keys, which differs */
	bool loads_differ;  /* one side was counted, by fewer requests */
	bool unreached;     /* a latency, and a side did not reach its rate */
	bool lacks_slow;    /* one side does not count its slow requests */
	enum verdict verdict;
	struct policy_waiver waiver; /* .reason NULL: none */
	double session_sd; /* of the policy, in ln(value), with session_df */
	double session_df; /* 0: it does not say it */
	struct rare *rare; /* judged by slow requests; NULL: by its values */
	const struct sample *used[2];  /* values, by side; borrowed */
	const struct model_row *model; /* its noise, without the runs */
	const struct metric_facts *of; /* NULL: it has no noise */
	struct verdict_facts facts;
	size_t needed;  /* runs of too few, or rounds; 0: not known */
	double minutes; /* for the missing runs; NAN: not known */
	size_t dropped; /* runs without a partner, left out */
	/* Of a row read from a record: see report_find_visible; its notes, NULL
	 * if it was judged here; why it is undecided. */
	double visible;
	const char *notes, *reason;
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
	double ratio, lo, hi; /* interval of these cases; NAN: it has none */
};

struct rule_issue { /* a rule or waiver of the policy without effect */
	const char *rule, *what;      /* "unused", "expired", "exceeded" */
	const char *reason, *expires; /* NULL: it has no waiver */
};

struct canary {                    /* a case that must not change */
	const char *name, *metric; /* of the case; metric NULL: it is missing */
	struct verdict_facts facts;
	const struct rare *rare; /* of the row */
	enum verdict verdict;
	bool ok;
};

/* What the rows of one metric have in common. */
struct metric_facts {
	const char *name; /* borrowed from a row */
	struct model_metric model;
	double step;              /* of its values */
	size_t cases;             /* with noise */
	struct model_prior prior; /* how much sessions differ */
	const char *from;    /* what says so: "default", "policy", "history" */
	const char *assumed; /* of what the default is: "virtual machine" */
	bool one_by_one;     /* the sides of a session were not interleaved */
	double needs_p;      /* the probability that one more claim needs */
	struct model_row *rows, common; /* of each case, and of all */
};

struct shifts {
	struct shift *v; /* of shift.h */
	size_t n, cap;
};

struct warnings {
	struct warning *v; /* of report.h */
	size_t n, cap;
};

struct comparison {
	const struct json *record; /* it was read from; NULL: judged here */
	const struct json *subject[2];
	struct json *named[2]; /* those of them that files gave a label */
	char *name[2];
	char *common; /* what all cases share: "50 clients, 64-byte values" */
	struct pairing *pairs;
	size_t npairs;
	struct row *rows; /* in the order of cases, then metrics */
	size_t nrows, cap;
	struct metric **kept; /* the metrics of the rows */
	size_t nkept;
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
	enum sessions_host host; /* of the cases that both sides have */
	double failed_runs;      /* of the contender */
	size_t paired;           /* gate rows that were paired */
	size_t sessions[2];      /* if the sides share none, else 0 */
	/* The metric that says how much sessions are taken to differ, the
	 * primary one that says most; NULL: the sides share one, or it is
	 * measured. */
	const struct metric_facts *assumed;
	bool unnamed_sessions; /* of some runs: they count as one */
	bool one_by_one;       /* the sides of a session were not interleaved */
	/* What likely regressions do to a CI job, "ok" or "fail"; NULL: the
	 * headline does not say it. */
	const char *on_likely;
	struct json *shared;       /* of the configurations of all pairs */
	struct pairing everything; /* stands for all cases */
	struct metric_facts *metrics;
	size_t nmetrics;
	struct shifts shifts;
	struct warnings warnings;
	size_t claims; /* rows of all comparisons that are chosen from */
};

/* Pairs the cases, reads each metric and compares the environments; decide_all
 * then sets the verdicts. The comparison borrows from both sets of cases. */
void judge_compare(struct comparison *, const struct cases *base, size_t who,
    const struct cases *contender, size_t contender_who, const struct rules *);

/* Sets the names of the cases of the pairs, and what all of them share. */
void judge_name_pairs(struct comparison *);

void judge_free(struct comparison *);

/* Returns an equal metric that lives as long as the comparison. */
const struct metric *judge_keep_metric(
    struct comparison *, const struct metric *);

/* Is the row the time by which its case is judged unless a policy names
 * another? */
bool judge_is_time(const struct row *);

#endif
