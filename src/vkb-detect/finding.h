/*
 * What a history shows: where a series changed its level, or how its newest
 * point compares with those before.
 */
#ifndef FINDING_H
#define FINDING_H

#include <stdbool.h>
#include <stddef.h>

#include "branch.h"
#include "changepoint.h"
#include "clock.h"
#include "metric.h"
#include "policy.h"
#include "verdict.h"

enum finding_kind {
	FINDING_REGRESSION,
	FINDING_IMPROVEMENT,
	FINDING_DIFFERENT,
	FINDING_SPIKE,
	FINDING_KINDS
};

const char *finding_name(enum finding_kind);

struct finding {
	const struct series *series;
	char *name; /* of the case */
	struct metric metric;
	bool gate;
	double margin;
	enum finding_kind kind;
	size_t at, lo, hi; /* points: the change, and where it may be */
	size_t n[2];       /* points, or runs with 'latest' */
	struct verdict_facts facts; /* after against before */
	double p;
	const char *method;
	bool fresh;  /* at or after --since */
	bool stands; /* the newest level is still that far off */
	struct policy_waiver waiver;
	bool waived;
	size_t group;
};

/*
 * One change that several series show.
 *
 * More points may move a change by a point or two, and it is to keep its key.
 * So that is not made of where it is but of a point before it, one in eight,
 * that the hash of its commit chooses (as files are cut by their content:
 * Muthitacharoen et al., "A low-bandwidth network file system", SOSP 2001), and
 * of how many changes of its kind lie between. It is another one where the
 * change moved over such a point. With 'latest' it is that of the commit.
 */
struct finding_group {
	enum finding_kind kind;
	size_t at;     /* where most of them are */
	size_t lo, hi; /* where all of them may be */
	size_t n;
	bool counts; /* one of them decides the exit status */
	size_t was;
	size_t mark; /* the point that its key is by */
	char key[17];
};

struct finding_rules {
	const char *metrics; /* --metrics */
	struct policy *policy;
	char today[CLOCK_ISO];
	struct changepoint_rules points; /* .magnitude < 0: the margin */
	size_t since;                    /* the first point that is new */
	size_t latest; /* compare the newest with so many before; 0: no */
};

struct findings {
	struct finding *v;
	size_t n, cap;
	struct finding_group *groups; /* the newest first */
	size_t ngroups;
	size_t series;                 /* looked at */
	size_t cases;                  /* they are of */
	size_t tooshort;               /* of these, too short for a change */
	const struct series *shortest; /* one of them, with so many points */
	size_t shortest_n;
	size_t verdicts[VERDICTS]; /* with 'latest', gates */
	size_t absent; /* with 'latest': series the newest point lacks */
};

/* 0, or -1 and said: some series could not be looked at. */
int finding_all(
    struct findings *, const struct branch *, const struct finding_rules *);
void finding_free(struct findings *);

/* It decides the exit status. */
bool finding_counts(const struct finding *);

/* The members of a group, in the order of cases: the first of them from 'from'
 * on; all->n: none. */
size_t finding_next(const struct findings *, size_t group, size_t from);

/* 16 hexadecimal digits; caller frees. */
char *finding_key(const struct finding *, const struct branch *);

#endif
