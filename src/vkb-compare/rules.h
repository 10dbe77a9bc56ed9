/*
 * The rules that a row is judged by: the table of metrics, overridden by the
 * policy, overridden by the options.
 */
#ifndef RULES_H
#define RULES_H

#include <stdbool.h>
#include <stddef.h>

#include "clock.h"
#include "policy.h"

struct comparison;
struct history;
struct metric;
struct row;

struct margin {
	const char *name; /* NULL: all metrics */
	struct policy_answer answer;
};

struct rules {
	const char *metrics; /* --metrics; NULL: the gates */
	struct margin *margins;
	size_t nmargins;
	struct policy *policy;   /* or NULL */
	struct history *history; /* or NULL */
	char today[CLOCK_ISO];   /* "2026-11-21" */
	bool strict;             /* see claim.h */
};

/* Sets metric, margin, class and waiver of a row from its pair and name; its
 * metric is the last argument. Returns false if the row is not to be shown. */
bool rules_apply(const struct rules *, struct row *, struct metric *);

/* Is this regression covered by its waiver? */
bool rules_is_waived(const struct row *);

/* Returns -1, after reporting it, if an option names an unknown metric. */
int rules_check_names(
    const struct rules *, const struct comparison *, size_t n);

/* Adds rules and waivers without effect to the first comparison. */
void rules_add_issues(const struct rules *, struct comparison *, size_t n);

#endif
