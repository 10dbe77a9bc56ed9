/*
 * The findings in a history: changes of the level of a series, at once or as a
 * trend, or, with --latest, of its newest point against those before.
 */
#ifndef FINDING_H
#define FINDING_H

#include <stdbool.h>
#include <stddef.h>

#include "branch.h"
#include "clock.h"
#include "metric.h"
#include "policy.h"
#include "judge/verdict.h"

/* The changes are numbered as verdicts are. */
enum finding_kind {
	FINDING_REGRESSION = VERDICT_REGRESSION,
	FINDING_IMPROVEMENT = VERDICT_IMPROVEMENT,
	FINDING_DIFFERENT = VERDICT_DIFFERENT,
	/* With 'latest': not sure enough to claim them. */
	FINDING_LIKELY_REGRESSION = VERDICT_LIKELY_REGRESSION,
	FINDING_LIKELY_IMPROVEMENT = VERDICT_LIKELY_IMPROVEMENT,
	FINDING_LIKELY_DIFFERENT = VERDICT_LIKELY_DIFFERENT,
	FINDING_SPIKE,
	FINDING_TREND,
	FINDING_KINDS
};

const char *finding_name_kind(enum finding_kind);

/* What one machine shows of a change. */
struct finding_part {
	size_t machine;
	size_t n[2];
	struct verdict_facts facts;
};

struct finding {
	const struct branch_series *series;
	char *name; /* of the case */
	struct metric metric;
	bool gate;
	bool primary; /* the policy judges the case by this time */
	double margin;
	enum finding_kind kind;
	enum finding_kind way; /* of a trend: its direction */
	size_t at, lo, hi;     /* the point of the change, and its range; of a
				* trend where it begins, and where it is */
	size_t n[2];           /* points on each side; runs with 'latest'; of a
				* trend the points before it, and its own */
	double pace;           /* of a trend: relative change per point */
	struct verdict_facts facts; /* after against before */
	double evidence;            /* of the values; NAN: it needs none */
	double probability;         /* of the change; NAN: it was not judged */
	const char *method; /* levels, slope, spike, exact; with 'latest'
			     * that of the facts */
	/* With 'latest', of n[0] and n[1] runs: values, and sessions. */
	double *runs;
	uint32_t *sessions;
	bool fresh;      /* at or after --since */
	bool stands;     /* no later level is back within the margin */
	size_t reverted; /* unless it stands: the point that brought it back */
	struct policy_waiver waiver;
	bool waived;
	bool outweighed; /* as a row of vkb-compare: different, no regression */
	char *setup;     /* what changed besides the commit, or NULL */
	bool rebuilt;    /* a count, and compiler or flags changed with it */
	size_t joint;    /* index of a finding of the same change */
	/* Of several machines; else NULL and 0. */
	struct finding_part *parts;
	size_t nparts;
	size_t *without; /* machines that do not show the change */
	size_t nwithout;
	bool twin; /* another machine has one there, in another direction */
	size_t group;
};

/*
 * One change that several series show.
 *
 * More points may move a change by a point or two, which must not change its
 * key. So the key depends on a mark, the last commit before it whose hash is a
 * multiple of 8 (as files are cut by their content: Muthitacharoen et al., "A
 * low-bandwidth network file system", SOSP 2001), and on the number of changes
 * of its kind between. The commit need not be measured, so that measuring it
 * later changes no key, and it is before all that may be the cause, so that
 * measuring those does not either. The key changes if the change moves over a
 * mark. With 'latest' the newest commit is the mark.
 */
struct finding_group {
	enum finding_kind kind, way; /* way: their finding_direction */
	size_t at;                   /* point of most of them */
	size_t lo, hi;               /* range that all of them share */
	size_t n;
	bool counts;             /* one of them makes the exit status 1 */
	size_t was;              /* index before sorting */
	unsigned long long mark; /* of its key: branch_find_mark */
	char key[17];
};

struct finding_rules {
	const char *metrics; /* --metrics */
	struct policy *policy;
	char today[CLOCK_ISO];
	size_t since;  /* first point of --since */
	size_t latest; /* --latest; 0: not given */
};

struct findings {
	struct finding *v;
	size_t n, cap;
	struct finding_group *groups; /* the newest first */
	size_t ngroups;
	size_t machines; /* that measured the history */
	size_t series;   /* with values */
	size_t cases;    /* of these series */
	size_t tooshort; /* series too short for a change */
	const struct branch_series *shortest; /* the shortest of these */
	size_t shortest_points;               /* its points */
	size_t verdicts[VERDICTS];            /* with 'latest': of gates */
	size_t enough; /* with 'latest': series with enough runs */
	size_t others; /* measured values beside counts, or counts beside
			* measured values, left out */
	size_t absent; /* with 'latest': series the newest point lacks, on all
			* machines */
};

/* Free with finding_free. */
void finding_find_all(
    struct findings *, const struct branch *, const struct finding_rules *);
void finding_free(struct findings *);

/* Regression, improvement or different; of a spike its kind. */
enum finding_kind finding_direction(const struct finding *);

/* Does the finding make the exit status 1? */
bool finding_is_counted(const struct finding *);

/* Returns the point that brought the last regression of the group back that
 * could have counted, or SIZE_MAX if there is none, or if one still stands. */
size_t finding_find_revert(const struct findings *, size_t group);

/* Returns the index of the first finding of a group at or after 'from', or
 * all->n. */
size_t finding_find_next(const struct findings *, size_t group, size_t from);

/* The key of a change: 16 hexadecimal digits. Caller frees. */
char *finding_make_key(const struct finding *, const struct branch *);

#endif
