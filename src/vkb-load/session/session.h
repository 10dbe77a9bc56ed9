/* Does all runs of a plan in order; saves each before the next. */
#ifndef SESSION_H
#define SESSION_H

#include "counts.h"

#include <stdbool.h>
#include <stdint.h>

struct builds;
struct engine;
struct extserver;
struct hdrfile;
struct live;
struct logs;
struct peers;
struct plan;
struct profiles_opts;
struct results;
struct serve;

struct session_opts {
	const char *order; /* NULL: slices */
	size_t runs;       /* of each case and build; 0: auto */
	double budget_s;   /* of each case, which 'runs' are then the least
			    * of; 0: none */
	const struct profiles_opts *profiles;
	struct logs *logs;
	struct counts_opts count;
	uint64_t seed;
	double timeout_s; /* 0: that of the case */
	const char
	    *command;   /* that was given, without its output file; or NULL */
	bool has_stdin; /* the command reads standard input */
	bool quiet, verbose;
	bool no_lock; /* do not wait for others that measure here */
	bool no_pin;  /* choose no CPUs */
	bool no_env;  /* leave out the env record */
	const struct serve *serve; /* the servers are elsewhere, or NULL */
	struct peers *peers;       /* the other parts of the load, or NULL */
	double start_at_s;         /* of the first run; 0: at once */
	struct hdrfile *hdr;       /* log of latencies, or NULL */
	struct live *live;         /* live metrics, or NULL */
};

/*
 * 0 if every run was measured; -1 if some failed or cannot be run, error
 * reported, or *stop was set.
 */
int session_run(const struct session_opts *, const struct plan *,
    const struct builds *, const struct engine *, struct results *,
    struct extserver *, const volatile int *stop);

#endif
