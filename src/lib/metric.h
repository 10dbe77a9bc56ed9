/*
 * The table of metrics: name, unit, which direction is better, how a value is
 * computed, joined and shown, its name in the flat metrics.json and in SQL, and
 * how it is judged. All lists of metrics are made of it.
 */
#ifndef METRIC_H
#define METRIC_H

#include <stdbool.h>
#include <stddef.h>

struct hist;
struct json;
struct str;

enum metric_better { METRIC_HIGHER, METRIC_LOWER, METRIC_NEITHER };

/* The value of a load whose parts ran at the same time. */
enum metric_join {
	METRIC_MOST,    /* the largest of the parts, if it has no histogram */
	METRIC_SUM,     /* of the parts */
	METRIC_AVERAGE, /* over the requests of all parts */
	METRIC_SHARED,  /* the cost of servers that all parts use, over the
			 * requests of all parts */
};

#define METRIC_MEAN -1 /* as a quantile: the mean */

struct metric {
	const char *name; /* rps, p99_latency_ms: ends in the unit */
	const char *unit; /* for people: "req/s", "ms", "" */
	enum metric_better better;
	double margin;     /* relative; theta of the verdict (TOST) */
	int decimals;      /* in the flat form */
	const char *label; /* for people; NULL: the name, shortened */
	const char *hist;  /* the histogram of a run, of ns, that it is computed
			    * from; NULL: none */
	double quantile; /* of it: 0 its minimum, 1 its maximum, METRIC_MEAN */
	enum metric_join join;
	const char *flat; /* column of metrics.json; NULL: 'name' */
	bool gate;        /* judged by default; the others are shown */
	bool closed;      /* judged by default where the load is closed */
	bool exact;       /* without noise: no test, one value is enough; if the
			   * runs of a side differ, their spread is judged */
	double exact_margin;    /* of counted runs that agree on each side it is
				 * exact, with this margin; 0: it never is */
	double rare_margin;     /* at a rate it is judged by the share of slow
				 * requests (rare.h), with this margin; 0: it
				 * never is */
	const char *instead_of; /* the metric of which it is the ratio to the
				 * reference server: judged in place of it
				 * between sessions with the same reference;
				 * NULL: none */
	bool grows; /* grows with the number of keys, which differs between
		     * writing runs of a fixed duration */
};

#define METRIC_RATIOS 7                    /* rows with 'instead_of' */
extern const struct metric metric_table[]; /* .name NULL ends it */

/* Returns the row of the table, or NULL if the name is unknown. */
const struct metric *metric_find(const char *name);

/* Is it a percentile or the maximum of a histogram of a run? */
bool metric_is_percentile(const struct metric *, const char *hist);

/* Returns the share of the requests that a percentile from the 90th on is
 * about, the slowest: .01 for p99; 0: another metric. */
double metric_tail(const char *name);

/* Returns a metric that has a histogram, in ms; NAN: the histogram is empty. */
double metric_time(const struct metric *, const struct hist *);

/* Sets all metrics that are computed from this histogram of a run. */
void metric_set_times(
    struct json *metrics, const char *name, const struct hist *);

/*
 * Returns how much of ln of the CPU time that other programs leave is in ln of
 * the metric: 1 of throughput and latency, 2 of the slowest percent, 0 of what
 * is counted. Of ratios to a reference little is left: beside programs that
 * used 88 % of two CPUs cpu_ratio was 7 % lower than on the idle machine, and
 * rps_ratio varied by 16 %.
 */
double metric_foreign_weight(const struct metric *);

/* Writes "throughput", "p99.9", "CPU per request", "bytes per key" for a
 * metric, or its name if it is not a known one. */
void metric_write_label(struct str *, const char *name);

/* Returns the metric of which it is the ratio to the reference server, or the
 * name itself. */
const char *metric_base(const char *name);

/* Returns the ratio to the reference server that stands in for the metric, or
 * NULL. */
const struct metric *metric_ratio(const char *name);

/* Are its values, or those of which it is the ratio, read from a clock that may
 * be coarse? */
bool metric_has_clock(const struct metric *);

/* Is the name one of a family, which the table lacks: cpuN_busy_percent, the
 * load of one CPU, or cmd_NAME_..., a server's counters of a command? */
bool metric_is_family(const char *name);

/*
 * Returns the table's row of a name, or a row guessed from the unit in the name
 * (..._ms, _us, _ns, _s, _bytes, _mb, _per_req, _per_op, and counts of cycles,
 * instructions, misses, faults: lower is better; rps, and ..._per_s of
 * requests, bytes and other work: higher; errors_per_s, _percent and others:
 * neither). The result's name is borrowed from the caller.
 */
struct metric metric_guess(const char *name);

/*
 * Returns the share of the offered requests that were answered in time, in
 * percent: each may be answered lag_s after it was due, so in a steady run as
 * many are still on their way at its end. NAN: not known.
 */
struct metric_achieved {
	double rps, offered_rps;
	double lag_s, elapsed_s;
};
double metric_achieved_percent(const struct metric_achieved *);

/* Below this percentage a rate was not reached. */
#define METRIC_REACHED_PERCENT 99

/*
 * Sets achieved_percent from the other metrics of a run with a rate, with its
 * smallest latency as the lag: then a queue that grows is never part of it.
 */
void metric_set_achieved(struct json *metrics);

/* Is the name, of n bytes, that of a latency? Those of a run that did not reach
 * its rate are how long its queue was, and are not judged. */
bool metric_follows_rate(const char *name, size_t n);

/* Does the case have a rate, or more than one? */
bool metric_has_rate(const struct json *config);

/* For the metrics with 'closed': does the load wait for replies, without a rate
 * and without the limit of a search? */
bool metric_is_closed(const struct json *config);

/* Is it judged by default in runs of this configuration, or, of a ratio, what
 * it is the ratio of? */
bool metric_is_gate(const struct metric *, const struct json *config);

/* For the metrics with 'grows': does the faster build end with more keys, as in
 * runs of fixed time that write? */
bool metric_keys_differ(const struct json *config);

/* Returns the name of the metric by which a case is judged first, and by which
 * one with a budget ends: the capacity where one is searched, the p99 of
 * latency at a given rate, else the throughput.
 */
const char *metric_primary(const struct json *config);

/* Is it that metric, of the whole case or of a part: the time of its work? */
bool metric_is_time(const char *name, const struct json *config);

/* "higher", "lower", "neither" */
const char *metric_better_name(enum metric_better);

/*
 * Applies the option --metrics: 'what' is NULL (gates), all, latency, or names
 * separated by commas, which also name the ratios of these to a reference
 * server. 'policy' is 1 gate, 0 info, -1 not set. Returns whether
 * the metric is shown; *gate is whether it is judged. A named metric is judged
 * unless neither direction is better.
 */
bool metric_is_shown(
    const char *what, const struct metric *, int policy, bool *gate);

/* Reports each name of the option that 'has' does not know, as "no case has
 * 'NAME'" where that is 'lack'. Returns -1 if there is one, else 0. */
int metric_check_names(const char *what, const char *lack,
    bool (*has)(const void *arg, const char *name), const void *arg);

#endif
