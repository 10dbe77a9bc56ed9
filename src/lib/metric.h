/*
 * The one table of metrics: name, unit, which way is better, how it is shown,
 * its name in the flat metrics.json and in SQL, and how it is judged.
 */
#ifndef METRIC_H
#define METRIC_H

#include <stdbool.h>
#include <stddef.h>

enum metric_better { METRIC_HIGHER, METRIC_LOWER, METRIC_NEITHER };

struct metric {
	const char *name; /* rps, p99_latency_ms: the unit is in the name */
	const char *unit; /* for people: "req/s", "ms", "" */
	enum metric_better better;
	bool gate;     /* judged by default; the others are shown */
	bool bound;    /* judged by default where the load is closed (no
			* rate) and the server was the limit of most runs, the
			* client of none */
	bool grows;    /* with the number of keys, which runs of a fixed
			* duration that write do not have in common */
	bool second;   /* when p is adjusted, its rows weigh half of others */
	double margin; /* relative; theta of the verdict (TOST) */
	int decimals;  /* in the flat form */
	const char *flat; /* column of metrics.json; NULL: 'name' */
	const char *help;
};

extern const struct metric metric_table[]; /* .name NULL ends it */

const struct metric *metric_find(const char *name); /* NULL: unknown */

/* Is it the load of one CPU, cpuN_busy_percent? They are not in the table. */
bool metric_is_core(const char *name);

/*
 * What is known about any name: the table's row, or one guessed from the unit
 * in the name (..._ms, _us, _ns, _s, _bytes, _mb, _per_req, _per_op, and counts
 * of cycles, instructions, misses, faults: lower is better; ..._per_s, rps:
 * higher; _percent and the rest: neither). The result is by
 * value; its name is borrowed from the caller.
 */
struct metric metric_guess(const char *name);

/*
 * What an option --metrics asks for: 'what' is NULL (gates), all, latency, or
 * names with commas. 'policy' is 1 gate, 0 info, -1 not said. Is it shown, and
 * *gate: is it judged? What is named is, unless no way is better.
 */
bool metric_wanted(
    const char *what, const struct metric *, int policy, bool *gate);

#endif
