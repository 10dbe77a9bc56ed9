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
void policy_free(struct policy *);

struct policy_waiver {
	const char *reason;  /* NULL: none; borrowed from the policy */
	const char *expires; /* "2026-12-31": the last day it holds */
	bool expired;
	double limit; /* relative change it covers; INFINITY: any */
};

struct policy_answer {
	double margin;    /* relative; NAN: not said */
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

/* The i-th rule that never matched, as "FILE: rules[2]"; NULL: no more. */
const char *policy_unused(const struct policy *, size_t i);

#endif
