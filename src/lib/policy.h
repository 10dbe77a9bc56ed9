/*
 * What counts, written down: per metric and case a margin, which way is
 * better, whether it is judged, and what is waived for a while and why. The
 * format is vkb-policy(5). Later rules win over earlier ones, each for what
 * it says.
 */
#ifndef POLICY_H
#define POLICY_H

#include <stdbool.h>
#include <stddef.h>

struct json;
struct policy;

/* NULL, and said with the file and the path of the key. */
struct policy *policy_read(const char *file);
/* The same of a document that is there already; it is taken. */
struct policy *policy_new(struct json *doc, const char *name);
void policy_free(struct policy *);

struct policy_waiver {
	const char *reason;  /* NULL: none; borrowed from the policy */
	const char *expires; /* "2026-12-31": the last day it holds */
	const char *rule;    /* "FILE: rules[2]" */
	bool expired;
	double limit; /* relative change it covers; INFINITY: any */
};

struct policy_answer {
	double margin;    /* relative; NAN: not said */
	char sign;        /* '+' or '-' in front of the margin; '\0': none */
	bool margin_auto; /* from the noise of the history */
	int better;       /* enum metric_better; -1: not said */
	int gate;         /* 1 gate, 0 info, -1 not said */
	int exact;        /* 1: no test, one value is enough; -1 not said */
	struct policy_waiver waiver;
};

/*
 * 'name' is the case as people see it (casename.h), 'today' "2026-11-21".
 * Counts the rules that matched, for policy_unused.
 */
void policy_ask(struct policy *, const struct json *config, const char *name,
    const char *metric, const char *today, struct policy_answer *);

/* Does it hold today, and cover a change to 'ratio' times the value? */
bool policy_waives(const struct policy_waiver *, double ratio);

/* The i-th rule that never matched, as "FILE: rules[2]"; NULL: no more. */
const char *policy_unused(const struct policy *, size_t i);

/*
 * "5%" up to below 100%; "auto"; "+10%", "-10%": a rise, a fall by more is
 * worse. Fills margin (of verdict_decide, which is one of logarithms: +10% is
 * 1 - 1/1.1), margin_auto and better. 0, or -1 (nothing is said).
 */
int policy_margin(const char *text, struct policy_answer *);

#endif
