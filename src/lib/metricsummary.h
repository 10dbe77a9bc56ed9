/* Writes one metric of the runs of one case as members of a JSON object, which
 * vkb-stats(1) lists. Values are written one by one, not as a tree. */
#ifndef METRICSUMMARY_H
#define METRICSUMMARY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct run_series;
struct rows_run;
struct sink;
struct stats_rule;
struct variance_run;

struct metric_summary {
	const struct rows_run *runs;
	const uint32_t *at;       /* indexes of runs, in order */
	const uint32_t *ids;      /* session of each run; NULL: at most one */
	const uint32_t *machines; /* machine number of each run; 0: unknown */
	size_t n;
	const struct run_series *series; /* NULL if runs have none */
	struct stats_rule *rule; /* cache; filled by the metric before */
	double precision;        /* wanted, or 0 */
	/* Set by metric_summary_begin. */
	bool placed; /* every run has a session */
	bool timed;  /* the position of every run in its session is known */
	double *sorted;
	struct variance_run *noise;
};

/* Call it when the members above are set, and at the end _free, which frees
 * what _begin set. */
void metric_summary_begin(struct metric_summary *);
void metric_summary_free(struct metric_summary *);

/* Writes a metric. 'v' has the value of each run in the order of 'runs', or
 * NAN. 'brief' leaves out values, blocks and sessions. */
void metric_summary_write(struct sink *, struct metric_summary *,
    const char *name, const double *v, bool brief);

#endif
