/*
 * What a row is judged by: the table of metrics, the policy over it, and the
 * options over both.
 */
#ifndef RULES_H
#define RULES_H

#include <stdbool.h>
#include <stddef.h>

#include "clock.h"
#include "policy.h"

struct comparison;
struct history;
struct row;

struct margin {
	const char *name; /* NULL: of all metrics */
	struct policy_answer says;
};

struct rules {
	const char *metrics; /* NULL: those that are gates; rps, latency, all,
			      * or names with commas */
	struct margin *margins;
	size_t nmargins;
	struct policy *policy;   /* NULL: none */
	struct history *history; /* NULL: none */
	char today[CLOCK_ISO];   /* "2026-11-21" */
	bool strict; /* Holm at .05 instead of Benjamini-Hochberg at .05 */
};

/* Fills what a row is judged by, from its pair and name. Is it shown? */
bool rules_apply(const struct rules *, struct row *);

/* Is this regression covered by its waiver? */
bool rules_waive(const struct row *);

/* Rules and waivers that did nothing, into the first comparison. */
void rules_lapses(const struct rules *, struct comparison *, size_t n);

#endif
