/*
 * Rules of a policy file, see vkb-policy(5): for metrics and cases the margin,
 * which direction is better, whether the metric is judged, how much sessions
 * differ, and waivers with a reason and an end. A later rule overrides the
 * settings that it contains.
 */
#ifndef POLICY_H
#define POLICY_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>

struct json;
struct policy;

/* Returns NULL after reporting the file and the path of each wrong key. */
struct policy *policy_read(const char *file);
/* The same for a parsed document, which is taken. */
struct policy *policy_new(struct json *doc, const char *name);
void policy_free(struct policy *);

struct policy_waiver {
	const char *reason;  /* NULL: not waived; borrowed from the policy */
	const char *expires; /* "2026-12-31": the last day it holds */
	const char *rule;    /* "FILE: rules[2]" */
	bool expired;
	double limit; /* relative change it covers; INFINITY: any */
};

struct policy_answer {
	double margin;    /* relative; NAN: not set */
	char sign;        /* '+' or '-' before the margin, or '\0' */
	bool margin_auto; /* from the noise of the history */
	int better;       /* enum metric_better; -1: not set */
	int gate;         /* 1 gate, 0 info, -1 not set */
	bool primary;     /* a gate by which its case is judged first */
	int exact;        /* 1: no test, one value is enough; -1 not set */
	/* How much sessions differ: standard deviation of ln(value), and its
	 * degrees of freedom; 0: not set. */
	double session_sd, session_df;
	struct policy_waiver waiver;
};

#define POLICY_NO_ANSWER         \
	((struct policy_answer){ \
	    .margin = NAN, .better = -1, .gate = -1, .exact = -1})

/*
 * Fills the answer for one metric of one case; the policy may be NULL. 'name'
 * is the display name of the case (casename.h) and 'old' its older one, or
 * NULL; 'today' is "2026-11-21". Marks the rules that match, for
 * policy_unused_rule.
 */
void policy_find_answer(struct policy *, const struct json *config,
    const char *name, const char *metric, const char *today,
    struct policy_answer *);

/* Is it valid, and does it cover a change to 'ratio' times the value? */
bool policy_waives(const struct policy_waiver *, double ratio);

/* Returns {"rule","reason","expires"}; caller frees. */
struct json *policy_describe_waiver(const struct policy_waiver *);

/* Returns the i-th rule that never matched, as "FILE: rules[2]" (borrowed), or
 * NULL. */
const char *policy_unused_rule(const struct policy *, size_t i);

/*
 * Parses a margin: "5%" (below 100%); "auto"; "+10%" or "-10%": a larger rise
 * or fall is worse. Fills margin (as verdict_decide expects it, symmetric in
 * logarithms: +10% is 1 - 1/1.1), sign, margin_auto and better. Returns 0, or
 * -1 without a report.
 */
int policy_parse_margin(const char *text, struct policy_answer *);

#endif
